"""The licences of an FMU's contents, in documentation/licenses/ (FMI 2.0, section 2.3).

license.txt is the entry point; every other file is one licence.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path

from ..codegen.compiler import WASM, zig_folder
from ..codegen.sources import PACKAGE, license_file
from ..model import Mechanism, UserError

FOLDER = "documentation/licenses/"
ENTRY = f"{FOLDER}license.txt"


def license_contents(
    platforms: Sequence[str], compiler: str, slave: bool, mechanism: Mechanism | None = None
) -> dict[str, bytes]:
    """Return archive name -> content, for binaries of these platforms; slave: parts of pythonfmu are included."""
    lines = ["What is inside this FMU, and the file with its licence:", ""]
    texts = {"mechfmu": license_file().read_bytes()}
    lines.append("mechfmu.txt    the runtime, and the mechanism if it is one of mechfmu's own (BSD 3-Clause)")
    if slave:
        texts["pythonfmu"] = _of_distribution("pythonfmu")
        lines.append("pythonfmu.txt  the base class of the slave in resources/pythonfmu (MIT)")
    if compiler == "zig":
        texts["zig"] = (zig_folder() / "LICENSE").read_bytes()
        lines.append("zig.txt        support routines of the compiler in binaries/ (MIT)")
        if "win64" in platforms:
            texts["mingw-w64"] = (zig_folder() / "lib" / "libc" / "mingw" / "COPYING").read_bytes()
            lines.append(
                "mingw-w64.txt  headers and import libraries of the library in binaries/win64 (Zope Public License 2.1)"
            )
        if WASM in platforms:
            wasi = zig_folder() / "lib" / "libc" / "wasi"
            texts["wasi-libc"] = (wasi / "LICENSE-MIT").read_bytes()
            texts["musl"] = (wasi / "libc-top-half" / "musl" / "COPYRIGHT").read_bytes()
            lines.append("wasi-libc.txt  the C library in binaries/wasm32 (MIT)")
            lines.append("musl.txt       the part of it that comes from musl (MIT)")
    if mechanism and (own := own_license(mechanism)):
        texts["mechanism"] = own.read_bytes()
        lines.append("mechanism.txt  the mechanism")
    lines += ["", "A mechanism or a robot description that is not part of mechfmu has the licence of its author.", ""]
    return {ENTRY: "\n".join(lines).encode()} | {f"{FOLDER}{name}.txt": text for name, text in texts.items()}


def is_builtin(mechanism: Mechanism) -> bool:
    """Return whether a mechanism is part of mechfmu."""
    return mechanism.folder.is_relative_to(PACKAGE)


def own_license(mechanism: Mechanism) -> Path | None:
    """Return the licence in the folder of a mechanism that is not part of mechfmu."""
    found = [] if is_builtin(mechanism) else sorted(f for f in mechanism.folder.glob("LICENSE*") if f.is_file())
    return found[0] if found else None


def _of_distribution(name: str) -> bytes:
    distribution = importlib.metadata.distribution(name)
    for file in distribution.files or ():
        if file.name.upper().startswith(("LICENSE", "COPYING")):
            return Path(str(distribution.locate_file(file))).read_bytes()
    raise UserError(f"the installation of {name} lacks its licence text, which the FMU must contain: reinstall it")
