"""FMU files: the same contents give the same bytes."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from ..engines.files import whole
from ..mechanisms import UserError


def make_folder(folder: Path) -> None:
    """Make sure that files can be written into `folder`, or UserError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UserError(f"cannot write into the folder {folder}: {error.strerror or error}") from None


def write_archive(target: Path, contents: Mapping[str, bytes]) -> None:
    """Write a zip file with sorted names and a fixed date."""
    with whole(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(contents):
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, whatever the system
            info.external_attr = 0o100644 << 16
            archive.writestr(info, contents[name])
