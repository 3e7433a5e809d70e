"""The folder of a sweep: one sweep of one FMU, one writer at a time, Parquet files that are complete or do not exist.

_sweep.json                  the sweep that it belongs to, units
_sweep.lock                  locked by the process that writes
part-000000040-20.parquet    20 runs from number 40 on; a checksum of the contents is in the metadata of the file

Readers of a folder of Parquet files as one table skip names that start with an underscore.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..model import UserError
from .specification import Spec

MANIFEST, LOCK = "_sweep.json", "_sweep.lock"
CHECKSUM = b"mechfmu.sha256"
START_OVER = "choose another folder, or start over with --restart (in Python restart=True)"

RESUME = "finished runs are kept, the same command resumes the sweep"


class BrokenPart(Exception):
    """A part whose contents cannot be what was written."""


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Errors of the file system as a UserError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"cannot write into the folder {folder}: {reason}; {RESUME}") from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder against other sweeps. The system releases the lock when the process ends, however it ends."""
    with writing(folder):
        file = (folder / LOCK).open("a+b")
    with file:
        with writing(folder):
            if not _lock(file.fileno()):
                file.seek(0)
                holder = file.read(200).decode(errors="replace").strip()
                other = f"another sweep is writing into {folder}" + (f" ({holder})" if holder else "")
                raise UserError(f"{other}: wait until it ends, or choose another folder")
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
            file.flush()
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                file.truncate(0)


def _lock(descriptor: int) -> bool:
    """Lock an open file, False when another process has it."""
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(descriptor, 1_000_000, os.SEEK_SET)  # beyond the text, which others may read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def claim_folder(folder: Path, spec: Spec, identity: str, units: Mapping[str, str], restart: bool) -> None:
    """Assign the folder to this sweep. UserError when it belongs to another one: results must not be mixed."""
    manifest = folder / MANIFEST
    with writing(folder):
        for file in (*folder.glob(".part-*.parquet"), *((*parts(folder), manifest) if restart else ())):
            file.unlink(missing_ok=True)
        if manifest.exists():
            try:
                found = json.loads(manifest.read_text())["identity"]
            except (ValueError, KeyError, TypeError):
                raise UserError(f"{manifest} is damaged: {START_OVER}") from None
            if found != identity:
                raise UserError(f"{folder} holds the results of another sweep: {START_OVER}")
            return
        if parts(folder):
            raise UserError(f"{folder} holds results of unknown origin: {START_OVER}")
        temporary = manifest.with_suffix(".new")
        shown = {n: units.get(n, "") for n in (*spec.names, *spec.record)}
        temporary.write_text(json.dumps({"identity": identity, "runs": spec.runs, "units": shown}, indent=1))
        temporary.replace(manifest)


def units_in(folder: Path) -> dict[str, str]:
    return dict(json.loads((folder / MANIFEST).read_text())["units"])


def finished_runs(folder: Path) -> tuple[np.ndarray, int]:
    """The numbers of the runs that the folder holds, and how many of them failed.

    Damaged parts are deleted: their runs are made again.
    """
    found, failed = [np.zeros(0, dtype=int)], 0
    for file in parts(folder):
        try:
            table = read_part(file)
        except BrokenPart:
            with writing(folder):
                file.unlink()
            continue
        found.append(np.asarray(table["run"]))
        failed += sum(map(bool, table["reason"].to_pylist()))
    return np.concatenate(found), failed


def read_part(file: Path) -> Any:
    """The table in a part.

    BrokenPart: it was read, but its contents are not what was written. UserError: it cannot be read now.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        content = file.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}") from None
    try:
        table = parquet.read_table(pa.BufferReader(content))
        checksum = (table.schema.metadata or {}).get(CHECKSUM)
        table["run"], table["reason"]
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise BrokenPart(f"{file} is damaged: {str(error).splitlines()[0]}") from None
    if checksum is not None and checksum != _checksum(table):  # files of earlier versions have none
        raise BrokenPart(f"{file} is damaged: its contents do not match their checksum")
    return table


def read_results(folder: Path) -> Any:
    """All parts in one table, in the order of the runs."""
    import pyarrow as pa

    try:
        tables = [read_part(file).replace_schema_metadata() for file in parts(folder)]
    except BrokenPart as error:
        raise UserError(f"{error}; the same sweep makes its runs again") from None
    return pa.concat_tables(tables).sort_by("run")


def write_part(
    folder: Path, spec: Spec, runs: np.ndarray, cases: np.ndarray, results: np.ndarray, reasons: Sequence[str]
) -> None:
    """Write finished runs; the file appears when it is complete."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {"run": runs}
    columns |= {name: spec.shown(name, column) for name, column in zip(spec.names, cases.T, strict=True)}
    columns |= dict(zip(spec.columns, results.T, strict=True)) | {"reason": list(reasons)}
    table, content = pa.table(columns), io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({CHECKSUM: _checksum(table)}), content)
    file = folder / f"part-{runs[0]:09d}-{len(runs)}.parquet"
    unfinished = folder / f".{file.name}"
    with writing(folder):
        try:
            unfinished.write_bytes(content.getvalue())
            unfinished.replace(file)
        except OSError:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            raise


def _checksum(table: Any) -> bytes:
    """Of the names and all values, however a file stores them."""
    digest = hashlib.sha256()
    for name in table.column_names:
        values = table[name]
        digest.update(f"{name}\0{values.type}\0".encode())
        if values.type == "string":
            digest.update(json.dumps(values.to_pylist()).encode())
        else:
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest().encode()
