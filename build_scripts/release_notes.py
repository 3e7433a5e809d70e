"""Print the changelog's section of a version:   python3 build_scripts/release_notes.py v0.2.0

Fails if the version is not that of the package and of CITATION.cff, or if the changelog has no section for it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def versions() -> dict[str, str]:
    """The version that each file of the project states."""
    stated = {"components/mechfmu/__init__.py": r'^__version__ = "(.+)"$', "CITATION.cff": r"^version: (.+)$"}
    return {file: re.findall(pattern, read(file), re.MULTILINE)[0] for file, pattern in stated.items()}


def notes(version: str) -> str:
    """The section of the changelog, without its title; empty if there is none."""
    sections = re.split(r"^## (\S+).*\n", read("CHANGELOG.md"), flags=re.MULTILINE)
    return dict(zip(sections[1::2], sections[2::2], strict=True)).get(version, "").strip()


def main(tag: str) -> int:
    version = tag.removeprefix("v")
    wrong = [f"{file} has version {stated}, not {version}" for file, stated in versions().items() if stated != version]
    if not notes(version):
        wrong.append(f"CHANGELOG.md has no section {version}")
    print("\n".join(wrong) if wrong else notes(version), file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
