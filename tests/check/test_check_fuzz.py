"""Random model descriptions, archives and calls: the checker never crashes, hangs or leaves files behind."""

from __future__ import annotations

import copy
import json
import random
import shutil
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from helpers.binary_files import MACH_O_AARCH64, MACH_O_X86_64, elf, fat, mach_o, pe, wasm
from helpers.check_defect import XML, Defect
from helpers.check_helpers import SECONDS, CheckDefect, findings_text
from helpers.check_zoo import CLEAN, MISBEHAVING, write_fmu
from helpers.large_description import large_description
from helpers.unit_library import library
from mechfmu.check.archive import Archive, unpack
from mechfmu.check.checker import reason_binary_not_run
from mechfmu.check.description import read_description
from mechfmu.check.dynamic.model import Model
from mechfmu.check.isolation import Limits
from mechfmu.check.model_data import model_data
from mechfmu.check.static import RULES
from mechfmu.check.static.binaries import read_binaries
from mechfmu.check.static.binary import UnreadableBinary
from mechfmu.check.static.unpacked import UnpackedFmu

pytest_plugins = ("helpers.check_fixtures",)

MUTATIONS = 1500
WORDS = (
    "", "0", "-1", "1", "7", "99", "4294967296", "1e400", "NaN", "INF", "-INF", "x", "a b", "der(x)", "'", "é",
    "\u200b", "true", "2.0", "9" * 40, "1_0", "0x1", "5 6 x", "constant", "input", "output", "parameter", "fixed",
    "discrete", "continuous", "exact", "calculated", "independent", "Length", "Mode", "m", "mm", "9" * 5000, "-1e308",
    "-0", "1e-400", "+7", " 7 ", "7 7", "x[1", "x[99999999999999999999999]", "'" * 500, "structured", "approx",
    "tunable",
)  # fmt: skip


def mutate(root: etree._Element, rng: random.Random) -> None:
    """One change somewhere in the tree."""
    elements = [e for e in root.iter() if isinstance(e.tag, str)]
    e = rng.choice(elements)
    other = rng.choice(elements)
    match rng.randrange(8):
        case 0 if e is not root:
            e.getparent().remove(e)
        case 1 if e is not root:
            e.getparent().append(copy.deepcopy(e))
        case 2 if e is not root and other is not e and e not in other.iterancestors():
            other.append(e)
        case 3 if e.attrib:
            del e.attrib[rng.choice(list(e.attrib))]
        case 4 | 5 if e.attrib:
            e.set(rng.choice(list(e.attrib)), rng.choice(WORDS))
        case 6:
            e.tag = other.tag
        case _:
            e.set(rng.choice(list(other.attrib) or ["x"]), rng.choice(WORDS))


def check_file(folder: Path) -> dict[str, int]:
    """All steps of a check before the binary runs; the numbers of findings of each rule."""
    description = read_description(folder / "modelDescription.xml")
    archive = Archive(folder, ("modelDescription.xml",), (), ())
    unpacked = UnpackedFmu(folder / "x.fmu", archive, description, folder)
    found: dict[str, int] = dict.fromkeys((rule.id for rule in RULES), 0)
    for rule in RULES:
        for finding in rule.check(unpacked):
            found[rule.id] += 1
            assert finding.text and finding.where and finding.expected
    if not reason_binary_not_run(archive, description, None):
        Model.from_dict(json.loads(json.dumps(model_data(description, archive))))
    return found


def test_mutated_model_descriptions(tmp_path: Path) -> None:
    base = etree.fromstring(XML.replace('<SourceFiles><File name="check_unit.c"/></SourceFiles>', "").encode())
    for seed in range(MUTATIONS):
        rng = random.Random(seed)
        root = copy.deepcopy(base)
        for _ in range(rng.randint(1, 6)):
            mutate(root, rng)
        (tmp_path / "modelDescription.xml").write_bytes(etree.tostring(root))
        try:
            check_file(tmp_path)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


def test_model_descriptions_with_wrong_bytes(tmp_path: Path) -> None:
    for seed in range(1000):
        rng = random.Random(seed)
        data = bytearray(XML.encode())
        for _ in range(rng.randint(1, 20)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        (tmp_path / "modelDescription.xml").write_bytes(data)
        check_file(tmp_path)


def write_archive(file: Path) -> bytes:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", XML)
        archive.writestr("resources/a/b.txt", "hello" * 50)
        archive.writestr("resources/c.txt", "hello" * 50, zipfile.ZIP_LZMA)
        archive.writestr("resources/d.txt", "hello" * 50, zipfile.ZIP_BZIP2)
        archive.writestr("resources/empty/", "")
        archive.writestr("documentation/index.html", "hello")
    return file.read_bytes()


def test_archives_with_wrong_bytes(tmp_path: Path) -> None:
    """Half of the changes are in the directory of the archive, which is at its end."""
    original = write_archive(tmp_path / "a.fmu")
    directory = original.index(b"PK\x01\x02")
    for seed in range(1500):
        rng = random.Random(seed)
        data = bytearray(original)
        first = directory if seed % 2 else 0
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(first, len(data))] = rng.randrange(256)
        file = tmp_path / "b.fmu"
        file.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)
        folder = tmp_path / f"out{seed}"
        folder.mkdir()
        archive = unpack(file, folder)
        assert all((folder / name).is_file() for name in archive.names), f"seed {seed}"
        assert {p.name for p in tmp_path.iterdir()} <= {"a.fmu", "b.fmu", *(f"out{i}" for i in range(seed + 1))}
        shutil.rmtree(folder)


LIBRARIES = {
    "elf": elf(path="$ORIGIN:/home/builder", needed=("libc.so.6", "libm.so.6"), versions=("GLIBC_2.2.5", "GLIBC_2.38")),
    "pe": pe(needed=("KERNEL32.dll", "USER32.dll")),
    "mach-o": mach_o(),
    "fat": fat((MACH_O_X86_64, mach_o()), (MACH_O_AARCH64, mach_o(MACH_O_AARCH64))),
    "wasm": wasm(imports=("env", "wasi_snapshot_preview1")),
}
NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@pytest.mark.parametrize("kind", [*LIBRARIES, "real", "noise"])
def test_libraries_with_wrong_bytes(kind: str, tmp_path: Path) -> None:
    """Whatever the bytes are, the readers answer at once: with tables or with UnreadableBinary."""
    original = LIBRARIES.get(kind) or library("check_unit.c", tmp_path)
    file, outcomes = tmp_path / "library", set()
    for seed in range(1500):
        rng = random.Random(seed)
        data = bytearray(original)
        if kind == "noise":
            data = bytearray(rng.choice((b"\x7fELF\x02\x01", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"")))
            data += rng.randbytes(rng.randrange(4000))
        for _ in range(rng.randint(1, 12) if data else 0):
            at = rng.randrange(min(len(data), 4096) if rng.random() < 0.5 else len(data))
            value = rng.choice(NUMBERS).to_bytes(4, "little")
            data[at : at + 4] = value[: len(data) - at]
        file.write_bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data)
        began = time.monotonic()
        try:
            outcomes.add(tuple(b.machine for b in read_binaries(file)))
        except UnreadableBinary as error:
            outcomes.add(str(error)[:12])
        assert time.monotonic() - began < SECONDS, f"seed {seed}"
    assert len(outcomes) > 1


@pytest.mark.parametrize("count", (10_000, 100_000))
def test_a_description_of_many_variables(count: int, tmp_path: Path) -> None:
    """Correct variables, and such that all are wrong."""
    for wrong, rules in ((False, set()), (True, {"S2", "S4", "S5", "S7"})):
        (tmp_path / "modelDescription.xml").write_text(large_description(count, wrong), encoding="utf-8")
        found = check_file(tmp_path)
        del found["S1"]  # there is no library
        assert {r for r in found if found[r] > 100} >= rules and (rules or not any(found.values())), found


CRASHING = [MISBEHAVING[name] for name in ("null", "step-early")]


@pytest.mark.parametrize("defect", [CLEAN["both"], *CRASHING], ids=lambda d: d.name)
def test_random_calls(
    defect: Defect, check_defect: CheckDefect, zoo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of random calls, on a correct FMU and on some that crash."""
    write_fmu(zoo_folder, defect)  # compiled outside the private folder
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    report = check_defect(defect, "R4", robustness=True, limits=Limits(SECONDS, 20.0, random=3000, seed=7))
    assert report.bugs == [] and list(tmp_path.iterdir()) == []
    assert any(f.crash for f in report.findings) == bool(defect.rule), findings_text(report)
