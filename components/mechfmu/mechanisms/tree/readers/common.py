"""Common parts of the readers of robot descriptions: files of limited size, numbers, frames, names.

A description comes from somebody else, so nothing in it is trusted. Whatever is wrong with it becomes a Fault with the
line of the element, and leaves a reader as a UserError "file:line: message". The readers are imported when they are
needed, because an FMU that was made from a description needs neither them nor their libraries.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ....model.mechanism import UserError
from ....multibody.rotations import from_quaternion
from ....multibody.tree import TreeError

Source = str | bytes | Path  # a file, or the description itself: bytes, or a str that cannot be a path
Placed = tuple[np.ndarray, np.ndarray]  # rotation and origin of a frame in another one

Report = Callable[[str, int], None]  # what was done about an inertia, and the line of the body

MAX_BODIES = 5000  # far above any robot; keeps a hostile file from costing minutes
MAX_ATTACHED = 8 * MAX_BODIES  # shapes, frames, spheres and corners of boxes that touch the ground
MAX_NAME = 200
MAX_NUMBER = 1e30  # lengths, masses: their products and squares stay finite

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Fault(TreeError):
    """What is wrong with a description, and the line of the element (0: unknown)."""

    def __init__(self, message: str, line: int = 0):
        super().__init__(message)
        self.line = line


# --- files and messages -----------------------------------------------------------------------------------------------


@contextmanager
def as_user_error(where: str) -> Iterator[None]:
    """Raise a TreeError as a UserError with file, line and message, without a traceback behind it."""
    try:
        yield
    except TreeError as error:
        line = getattr(error, "line", 0)
        raise UserError(f"{where}:{line}: {error}" if line else f"{where}: {error}") from None


def contents(source: Source, is_text: bool, limit: int) -> tuple[str, bytes]:
    """Return the name of the source for messages, and its bytes.

    Only plain files are opened: a pipe or a device could be endless.
    """
    if isinstance(source, bytes) or is_text:
        where, data = "description", source if isinstance(source, bytes) else str(source).encode(errors="replace")
    else:
        where = str(source) if str(source).isprintable() else ascii(str(source))
        try:
            if not stat.S_ISREG(Path(source).stat().st_mode):
                raise UserError(f"{where}: is not a file")
            with Path(source).open("rb") as file:
                data = file.read(limit + 1)
        except OSError as error:
            raise UserError(f"{where}: {error.strerror or 'cannot be read'}") from None
        except ValueError:  # a path with a NUL
            raise UserError(f"{where}: is not a file name") from None
    if len(data) > limit:
        raise UserError(f"{where}: is larger than {limit / 1e6:g} MB; a robot description is not")
    return where, data


def printable(thing: object) -> str:
    """Text from the file for a message: one line, short, printable."""
    if isinstance(thing, int) and thing.bit_length() > 100:
        return "a very large number"
    text = str(thing)
    if not text.isprintable():
        text = ascii(text)
    return text if len(text) <= 60 else f"{text[:57]}..."


def no_report(text: str, line: int) -> None:
    """Ignore a report."""


# --- numbers ----------------------------------------------------------------------------------------------------------


def number(text: str, what: str, line: int, largest: float = MAX_NUMBER) -> float:
    """A decimal number and blanks around it: float() would also take nan, inf, 1_000 and foreign digits."""
    text = text.strip(" \t\r\n")
    if len(text) > 100 or not _NUMBER.fullmatch(text):
        raise Fault(f"{what}: {printable(text) or 'nothing'} is not a number", line)
    return in_range(float(text), what, line, largest)


def numbers(text: str, count: int, what: str, line: int) -> tuple[float, ...]:
    words = text.split()
    if len(words) != count:
        raise Fault(f"{what}: needs {count} numbers, has {len(words)}", line)
    return tuple(number(word, what, line) for word in words)


def in_range(value: float, what: str, line: int, largest: float = MAX_NUMBER) -> float:
    if not abs(value) <= largest:  # also excludes nan
        raise Fault(f"{what}: {value:g} is {'not finite' if not np.isfinite(value) else 'too large'}", line)
    return value


# --- frames -----------------------------------------------------------------------------------------------------------


def from_rpy(rpy: Sequence[float]) -> np.ndarray:
    """Roll, pitch, yaw: turns about the fixed axes x, y, z in this order, so Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return tidy(
        np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )
    )


def from_xyzw(xyzw: Sequence[float], what: str, line: int) -> np.ndarray:
    """The rotation of a quaternion, w last. Its length may be rounded."""
    e = np.array([xyzw[3], *xyzw[:3]])
    length = float(np.linalg.norm(e))
    if not abs(length - 1) < 1e-3:
        raise Fault(f"{what}: the quaternion's length is {length:g}, not 1", line)
    return tidy(np.asarray(from_quaternion(e / length)))


def tidy(R: np.ndarray) -> np.ndarray:
    """Make right angles exact.

    cos(pi/2) is 6e-17 in floating point, and such entries would cost operations in every evaluation.
    """
    rounded = np.round(R)
    return np.where(np.abs(R - rounded) < 1e-15, rounded, R) + 0.0


def flat(a: np.ndarray) -> tuple[float, ...]:
    return tuple(float(x) for x in np.ravel(a))


def turned_inertia(R: np.ndarray, inertia: tuple[float, ...]) -> tuple[float, ...]:
    """xx, yy, zz, xy, xz, yz in the axes to which R leads; the very same numbers when R is the identity."""
    if np.array_equal(R, np.eye(3)):
        return inertia
    xx, yy, zz, xy, xz, yz = inertia
    J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return flat(np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]))


# --- counts and names -------------------------------------------------------------------------------------------------


def check_name(name: str, what: str, line: int) -> str:
    if not name:
        raise Fault(f"{what}: needs a name", line)
    if len(name) > MAX_NAME:
        raise Fault(f"{what} {printable(name)}: its name is longer than {MAX_NAME} characters", line)
    return name


def check_count(count: int, word: str, largest: int = MAX_BODIES) -> None:
    if count > largest:
        raise Fault(f"there are {count} {word} elements; at most {largest} are allowed")


def legal_name(name: str) -> str:
    """A name that variables of an FMU may have.

    Characters other than letters, digits and _ become _; a leading digit gets one before it.
    """
    if _NAME.fullmatch(name):
        return name
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return name if _NAME.fullmatch(name) else f"_{name}"


def legal_names(names: Iterable[str]) -> dict[str, str]:
    """Old name to legal name. Legal names stay; one that had to change gets a number if it would equal another."""
    names = list(names)
    found = {n: n for n in names if _NAME.fullmatch(n)}
    taken = set(found)
    for name in names:
        if name not in found:
            made, count = legal_name(name), 1
            while made in taken:
                count += 1
                made = f"{legal_name(name)}_{count}"
            found[name] = made
            taken.add(made)
    return found
