"""Archives (.fmu, .ssp) whose bytes depend on their contents only."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from ..atomic_file import atomic_write
from ..model import UserError, did_you_mean


def make_folder(folder: Path) -> None:
    """Make sure that files can be written into `folder`, or raise a UserError.

    Only the last level is created: when more of the path is missing, it is probably misspelt.
    """
    try:
        if not folder.is_dir() and not folder.parent.exists():
            missing = next(f for f in (*reversed(folder.parents), folder) if not f.exists())
            beside = [f.name for f in missing.parent.iterdir() if f.is_dir()]
            raise UserError(
                f"cannot write into the folder {folder}: there is no folder {missing} "
                f"(only the last level of a path is created){did_you_mean(missing.name, beside)}"
            )
        folder.mkdir(exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UserError(f"cannot write into the folder {folder}: {error.strerror or error}") from None


def write_archive(target: Path, contents: Mapping[str, bytes]) -> None:
    """Write a zip file, archive name -> content, with sorted names and a fixed date."""
    with atomic_write(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(contents):
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, on every system
            info.external_attr = 0o100644 << 16
            archive.writestr(info, contents[name])
