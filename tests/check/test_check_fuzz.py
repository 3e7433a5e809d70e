"""Random model descriptions, archives and calls: the checker never crashes, hangs or leaves files behind."""

from __future__ import annotations

import copy
import json
import random
import tempfile
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from helpers.check_helpers import SECONDS
from helpers.check_zoo import CLEAN, DEFECTS, XML, Defect, write_fmu
from mechfmu.check.archive import Archive, unpack
from mechfmu.check.checker import Options, check_fmu, reason_binary_not_run
from mechfmu.check.description import read_description
from mechfmu.check.dynamic.model import Model
from mechfmu.check.isolation import Limits
from mechfmu.check.model_data import model_data
from mechfmu.check.static import RULES
from mechfmu.check.static.unpacked import UnpackedFmu

MUTATIONS = 3000
WORDS = (
    "", "0", "-1", "1", "7", "99", "4294967296", "1e400", "NaN", "INF", "-INF", "x", "a b", "der(x)", "'", "é",
    "\u200b", "true", "2.0", "9" * 40, "1_0", "0x1", "5 6 x", "constant", "input", "output", "parameter", "fixed",
    "discrete", "continuous", "exact", "calculated", "independent", "Length", "Mode", "m", "mm",
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


def check_file(folder: Path) -> None:
    """All steps of a check before the binary runs."""
    description = read_description(folder / "modelDescription.xml")
    archive = Archive(folder, ("modelDescription.xml",), (), ())
    unpacked = UnpackedFmu(folder / "x.fmu", archive, description, folder)
    for rule in RULES:
        for finding in rule.check(unpacked):
            assert finding.text and finding.where and finding.expected
    if not reason_binary_not_run(archive, description, None):
        Model.from_dict(json.loads(json.dumps(model_data(description, archive))))


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


def test_archives_with_wrong_bytes(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", XML)
        archive.writestr("resources/a/b.txt", "hello" * 50)
        archive.writestr("documentation/index.html", "hello")
    original = (tmp_path / "a.fmu").read_bytes()
    for seed in range(1000):
        rng = random.Random(seed)
        data = bytearray(original)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        file = tmp_path / "b.fmu"
        file.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)
        folder = tmp_path / f"out{seed}"
        folder.mkdir()
        unpack(file, folder)
        assert {p.name for p in tmp_path.iterdir()} <= {"a.fmu", "b.fmu", *(f"out{i}" for i in range(seed + 1))}


CRASHING = [d for d in DEFECTS if d.binary in ("null", "step-state-crash", "step-exit")]


@pytest.mark.parametrize("defect", [CLEAN["both"], *CRASHING], ids=lambda d: d.name)
def test_random_calls(defect: Defect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of random calls, on a correct FMU and on some that crash."""
    file = write_fmu(tmp_path, defect)
    private = tmp_path / "temporary"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    report = check_fmu(file, Options(only=("D3",), limits=Limits(2 * SECONDS, random=3000, seed=7)))
    assert report.bugs == [] and list(private.iterdir()) == []
    if defect.rule == "":
        assert report.counted == [], report.counted[0].text
