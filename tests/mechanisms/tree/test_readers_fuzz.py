"""Broken robot descriptions by the thousand: each is read or refused with one line, quickly, and nothing is written."""

from __future__ import annotations

import re
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from helpers import needs
from helpers.robot_files import EXAMPLE, MJCF_MODEL, ROBOT, SDF_MODEL, XACRO_ROBOT
from mechfmu.cli import main
from mechfmu.mechanisms.tree.readers.mjcf_unsupported import IGNORED
from mechfmu.mechanisms.tree.readers.sdf import read_sdf
from mechfmu.mechanisms.tree.readers.toml_file import read_toml
from mechfmu.mechanisms.tree.readers.urdf import read_urdf
from mechfmu.model import UserError
from mechfmu.multibody.tree import BodyTree

SLOWEST = 3.0  # s for one input; seen: 0.05
BATCHES = range(4)
INPUTS = 250  # in each batch of each test

Random = np.random.Generator

NASTY = (
    "nan", "inf", "-inf", "1e999", "-1e999", "1e-320", "1e29", "-1e29", "1e30", "1e200", "-1e308", "0", "-0", "-1",
    "1e-300", "0x10", "1_0", "9" * 400, "", " ", "0 0 0", "1 1 1 1", "1e29 1e29 1e29", "0 0 1e-8", "é", "\u202e",
    "a" * 300, "ground", "upper", "tool", "slider", "shoulder", "base", "revolute", "planar", "floating", "fixed",
    "continuous", "${x}", "&amp;", "]]>",
)  # fmt: skip
PIECES = (
    b"<", b">", b"/>", b"</robot>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?xml?>", b"<!DOCTYPE r>", b"&#0;",
    b"&lt;", b"&x;", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xfe\xff", b'"', b"'", b"xmlns:", b'encoding="utf-16"',
    b"<mimic joint='rail'/>", b"<link name='x'/>", b"[", b"]", b"[[body]]\n", b"[[joint]]\n", b"{", b"}", b"=", b".",
    b",", b"#", b'"""', b"'''", b"\\", b"\n", b"\r", b"\\u0000", b"name = 'x'\n", b"0xffffffffffffffffffffffff",
    b"1979-05-27T07:32:00", b"inf", b"nan", b"1e999", b"-", b"a.b.c.d.e", b"<mimic joint='screw' multiplier='1e29'/>",
    b"<transmission><joint name='rail'/><rotorInertia>1e29</rotorInertia></transmission>", b"armature = 1e29\n",
)  # fmt: skip
LINES = (
    "",
    "[[body]]",
    "[[joint]]",
    "[body]",
    "[joint.rotation]",
    "rotation = { rpy = [0, 0, 1] }",
    "child_position = [1, 2, 3]",
    'mimic = "wrist"',
    "multiplier = -2",
    "armature = 0.1",
)


def choice(random: Random, things: Sequence[Any]) -> Any:
    return things[int(random.integers(len(things)))]


# --- mutations --------------------------------------------------------------------------------------------------------


def broken_bytes(data: bytes, random: Random) -> bytes:
    """A few bytes or stretches of bytes changed, lost, doubled, moved, or replaced by something with a meaning."""
    text = bytearray(data)
    for _ in range(int(random.integers(1, 5))):
        if not text:
            break
        a, length = int(random.integers(len(text))), int(random.choice([1, 2, 5, 20, 200]))
        b = int(random.integers(len(text)))
        stretch = text[a : a + length]
        match random.integers(6):
            case 0:
                text[a] ^= 1 << int(random.integers(8))
            case 1:
                del text[a : a + length]
            case 2:
                text[b:b] = stretch
            case 3:
                text[a : a + length] = choice(random, PIECES)
            case 4:
                text[a:a] = choice(random, PIECES)
            case 5:
                text = text[:a] if random.random() < 0.2 else text[:a] + stretch[::-1] + text[a + length :]
    return bytes(text)


def broken_urdf(data: bytes, random: Random) -> bytes:
    """Well-formed XML with elements lost, doubled, moved and renamed, and attributes lost and exchanged."""
    root = etree.fromstring(data, etree.XMLParser(remove_comments=True))
    for _ in range(int(random.integers(1, 4))):
        elements = list(root.iter())[1:]
        if not elements:
            break
        one, other = choice(random, elements), choice(random, elements)
        attributes = [(e, key) for e in elements for key in e.attrib]
        match random.integers(7):
            case 0:
                one.getparent().remove(one)
            case 1:
                one.addnext(etree.fromstring(etree.tostring(one, with_tail=False)))
            case 2 if one not in other.iter() and one not in other.iterancestors():
                other.append(one)
            case 3:
                one.tag = other.tag
            case 4 | 5 if attributes:
                element, key = choice(random, attributes)
                element.set(
                    key, choice(random, NASTY) if random.random() < 0.7 else choice(random, attributes)[0].get(key, "1")
                )
            case 6 if attributes:
                element, key = choice(random, attributes)
                del element.attrib[key]
    return etree.tostring(root)


def broken_toml(data: bytes, random: Random) -> bytes:
    """Lines lost, doubled, exchanged; keys exchanged; values replaced."""
    lines = data.decode().split("\n")
    given = [i for i, line in enumerate(lines) if "=" in line]
    for _ in range(int(random.integers(1, 4))):
        i, j = choice(random, given), choice(random, given)
        key, _, value = lines[i].partition("=")
        match random.integers(7):
            case 0:
                lines[i] = ""
            case 1:
                lines[i] += "\n" + lines[j]
            case 2:
                lines[i], lines[j] = lines[j], lines[i]
            case 3:
                lines[i] = f"{lines[j].partition('=')[0]}={value}"
            case 4:
                nasty = choice(random, NASTY)
                lines[i] = f'{key}= "{nasty}"' if random.random() < 0.4 else f"{key}= {nasty}"
            case 5:
                lines[i] = re.sub(
                    r"-?[0-9.]+", lambda _: choice(random, NASTY[:20]), lines[i], count=int(random.integers(1, 4))
                )
            case 6:
                k = int(random.integers(len(lines)))
                lines[k] = choice(
                    random,
                    (
                        "",
                        "[[body]]",
                        "[[joint]]",
                        "[body]",
                        "[joint.rotation]",
                        "rotation = { rpy = [0, 0, 1] }",
                        "child_position = [1, 2, 3]",
                    ),
                )
    return "\n".join(lines).encode()


def read_free_urdf(data: bytes) -> BodyTree:
    return read_urdf(data, "free")


ATTACHED_URDF = ROBOT.replace(
    "</robot>",
    """<sensor name="imu"><parent link="upper"/><origin xyz="0 0 1" rpy="0 1 0"/></sensor>
    <gazebo reference="tool"><sensor name="ft"><pose>0 0 1 0 0 1</pose></sensor></gazebo></robot>""",
).replace(
    '<link name="tool">',
    """<link name="tool"><collision><geometry><sphere radius="0.1"/></geometry></collision>
    <collision><origin rpy="1 0 0"/><geometry><box size="1 2 3"/></geometry></collision>""",
)
ATTACHED_TOML = (
    EXAMPLE.read_bytes()
    + b"""
[[frame]]
name = "palm"
body = "hand"
position = [0, 0, -0.2]
rotation = { rpy = [0, 0, 1] }

[[contact]]
name = "finger"
body = "hand"
position = [0, 0, -0.25]
radius = 0.02
"""
)


def read_mjcf_quietly(data: bytes) -> BodyTree:
    from mechfmu.mechanisms.tree.readers.mjcf import read_mjcf

    needs.package("mujoco")
    return read_mjcf(data, ignore=IGNORED)


def read_xacro_bytes(data: bytes) -> BodyTree:
    """A xacro reader reads files; its messages are about a description here."""
    from mechfmu.mechanisms.tree.readers.xacro_file import read_xacro

    needs.package("xacro")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what xacro warns of
        file = Path(folder) / "robot.xacro"
        file.write_bytes(data)
        try:
            return read_xacro(file)
        except UserError as error:
            message = str(error).replace(str(file), "description", 1).replace(", expanded", "", 1)
            raise UserError(message) from None


PAIRS: dict[str, tuple[Callable[[bytes], BodyTree], bytes, Callable[[bytes, Random], bytes]]] = {
    "urdf-bytes": (read_urdf, ROBOT.encode(), broken_bytes),
    "urdf-structure": (read_urdf, ROBOT.encode(), broken_urdf),
    "urdf-free": (
        read_free_urdf,
        ROBOT.replace('name="shoulder" type="revolute"', 'name="shoulder" type="fixed"').encode(),
        broken_urdf,
    ),
    "urdf-planar": (
        read_urdf,
        re.sub(
            "<limit[^>]*>",
            "",  # which these joints do not have
            ROBOT.replace('type="revolute"', 'type="planar"').replace('type="prismatic"', 'type="floating"'),
        ).encode(),
        broken_urdf,
    ),
    "toml-bytes": (read_toml, EXAMPLE.read_bytes(), broken_bytes),
    "toml-structure": (read_toml, EXAMPLE.read_bytes(), broken_toml),
    "urdf-attached": (read_urdf, ATTACHED_URDF.encode(), broken_urdf),
    "toml-attached": (read_toml, ATTACHED_TOML, broken_toml),
    "sdf-bytes": (read_sdf, SDF_MODEL.encode(), broken_bytes),
    "sdf-structure": (read_sdf, SDF_MODEL.encode(), broken_urdf),
    "mjcf-bytes": (read_mjcf_quietly, MJCF_MODEL.encode(), broken_bytes),
    "mjcf-structure": (read_mjcf_quietly, MJCF_MODEL.encode(), broken_urdf),
    "xacro-structure": (read_xacro_bytes, XACRO_ROBOT.encode(), broken_urdf),
}


# --- what must hold ---------------------------------------------------------------------------------------------------


def outcome(read: Callable[[bytes], BodyTree], data: bytes) -> str:
    """ "" when the input was read, else the message; anything but a UserError passes through and fails the test."""
    before = time.perf_counter()
    try:
        tree = read(data)
    except UserError as error:
        message = str(error)
        assert message.startswith("description:") and message.isprintable() and len(message) < 600
    else:
        message = ""
        tree.check()
        assert BodyTree.from_json(tree.to_json()) == tree
        frames, _, _ = tree.frames()
        assert all(np.isfinite(f.R0).all() and np.isfinite(f.r).all() for f in frames)
        named = (tree, *tree.bodies, *tree.joints, *tree.points, *tree.contacts)
        assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", x.name) for x in named)
    assert time.perf_counter() - before < SLOWEST
    return message


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("pair", PAIRS)
def test_broken_descriptions(pair: str, batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    read, valid, mutate = PAIRS[pair]
    assert outcome(read, valid) == ""
    random = np.random.default_rng([batch, *pair.encode()])
    messages = []
    for number in range(INPUTS):
        data = mutate(valid, random)
        try:
            messages.append(outcome(read, data))
        except BaseException as error:
            raise AssertionError(f"input {number} of {pair}, batch {batch}: {data!r}") from error
    refused = [m for m in messages if m]
    assert INPUTS * 0.2 < len(refused) < INPUTS * 0.999, "the mutations are too tame or too wild"
    assert len({re.sub(r"[\d'].*", "", m.partition(": ")[2]) for m in refused}) > 10, (
        "the mutations always fail for the same reason"
    )
    assert list(tmp_path.iterdir()) == []


def test_noise_is_rejected() -> None:
    random = np.random.default_rng(7)
    for _ in range(300):
        noise = random.bytes(int(random.integers(0, 300)))
        assert outcome(read_urdf, noise)
        assert outcome(read_toml, noise)
        assert outcome(read_sdf, noise)
        assert outcome(read_urdf, b"<robot>" + noise + b"</robot>")


@pytest.mark.parametrize("pair", ("urdf-structure", "toml-structure"))
def test_the_command_rejects_broken_files_and_writes_nothing(
    pair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read, valid, mutate = PAIRS[pair]
    random = np.random.default_rng(3)
    file, out = tmp_path / f"robot.{pair[:4]}", tmp_path / "out"
    refused = 0
    while refused < 60:
        data = mutate(valid, random)
        message = outcome(read, data)
        if message:
            refused += 1
            file.write_bytes(data)
            assert main(["build", str(file), "-o", str(out)]) == 2
            assert capsys.readouterr().err == f"mechfmu build: {file}{message.removeprefix('description')}\n"
            assert [f.name for f in tmp_path.iterdir()] == [file.name]
