"""S1: the archive and the files that an FMU needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ..findings import Finding, rule
from .platforms import PLATFORMS, platform_named
from .unpacked import UnpackedFmu

SOURCES = (".c", ".cpp", ".cc", ".cxx")
STATIC_LIBRARIES = (".lib", ".a", ".obj", ".o")


@rule("S1", "archive and its contents", "2.3")
def archive_contents(fmu: UnpackedFmu) -> Iterator[Finding]:
    """The zip file is intact and safe to unpack: deflate or store, version 2.0, not encrypted or split, no backslashes,
    absolute or parent paths, links, zip bombs, names that differ by case only. It contains modelDescription.xml and,
    for every platform of the standard in binaries/, a library named modelIdentifier, or else sources."""
    archive = fmu.archive
    fmu.not_judged.extend(archive.not_judged)
    yield from archive.problems
    if not archive.opened:
        return
    if fmu.file.suffix.lower() != ".fmu":
        yield Finding("the file", f"its name ends in {fmu.file.suffix or 'nothing'}", ".fmu", "extension")
    if "modelDescription.xml" not in archive.names:
        if not any("modelDescription.xml" in text for text in archive.not_judged):
            expected = "modelDescription.xml at its top level"
            yield Finding("the archive", "it has no modelDescription.xml", expected, "description-file")
        return
    platforms = sorted({n.split("/")[0] for n in archive.under("binaries/") if "/" in n})
    for platform in platforms:
        yield from _libraries(fmu, platform)
    if not platforms and not has_sources(fmu) and not archive.not_judged:
        expected = "a library in binaries/<platform>/ or C code in sources/"
        yield Finding("the archive", "it has neither binaries nor sources", expected, "implementation")


def has_sources(fmu: UnpackedFmu) -> bool:
    return any(n.lower().endswith(SOURCES) for n in fmu.archive.under("sources/"))


def _libraries(fmu: UnpackedFmu, platform_name: str) -> Iterator[Finding]:
    """The libraries for one platform: one for each modelIdentifier, unless it comes as source code or object file."""
    folder, platform = f"binaries/{platform_name}/", platform_named(platform_name)
    if platform is None:
        return
    twin = next((p for p in PLATFORMS.values() if (p.system, p.machine) == (platform.system, platform.machine)), None)
    if twin and twin is not platform and not fmu.archive.under(f"binaries/{twin.name}/"):
        problem = f"importers of FMI 2.0 look for this platform in binaries/{twin.name}"
        yield Finding(folder, problem, f"the library in binaries/{twin.name}", suggestion=f"name it {twin.name}")
    files = fmu.archive.under(folder)
    shared = {f for f in files if "/" not in f and f.lower().endswith(platform.suffix)}
    found = {f.lower() for f in shared} if platform.system == "Windows" else shared  # Windows ignores case
    elements = [e for e in fmu.description.interfaces.values() if e.get("modelIdentifier")]
    names = {e.get("modelIdentifier") + platform.suffix: e.sourceline for e in elements}
    missing = [n for n in names if (n.lower() if platform.system == "Windows" else n) not in found]
    other_form = has_sources(fmu) or any(PurePosixPath(f).suffix.lower() in STATIC_LIBRARIES for f in files)
    if other_form and (not shared or len(missing) < len(names)):
        return
    for name in missing:
        problem, expected = f"there is no {name}", "the library named modelIdentifier"
        yield Finding(folder, problem, expected, "library-named", line=names[name])
