"""Reader of MJCF, the models of MuJoCo, by MuJoCo's own compiler (package mujoco).

The compiler resolves defaults, includes, frames, orientations, angles in degrees, inertias from geoms and meshes. What
it computed is read from the arrays of its model: mjcf_bodies.py makes bodies and joints of it, mjcf_motors.py limits of
motors and couplings of joints, and mjcf_unsupported.py finds what a tree does not have.

The compiler reads the files that the model includes and its meshes. It does not say in which of several files a line
is, so that messages about a model with includes say "line n here or in an included file".
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ....model.extras import require
from ....multibody.tree import BodyTree
from .arranged import arranged
from .common import MAX_BODIES, Fault, Report, Source, as_user_error, check_count, contents, no_report
from .meshes.shapes import Meshes
from .mjcf_bodies import Elements
from .mjcf_motors import coupled, with_motors
from .mjcf_unsupported import IGNORED, contact_count, note_unsupported
from .unsupported import Unsupported, ignored_words
from .xml_tree import check_doctype, parsed

MAX_BYTES = 10_000_000
MAX_CELLS = 10_000_000  # of a height field
LINE = re.compile(r",? *(?:at )?line:? (\d+)(?:, column -?\d+)?")


def read_mjcf(
    path_or_text: Source,
    inertia: str = "refuse",
    ignore: Iterable[str] = (),
    report: Report = no_report,
    meshes: Meshes | None = None,
) -> BodyTree:
    """The tree of an MJCF file (or of a text that begins with "<").

    inertia, report: as in arranged.judged. ignore: words of mjcf_unsupported.IGNORED, for what is left out.
    meshes: simplifies those that the compiler has read; None: they are not drawn.
    """
    words = ignored_words(ignore, IGNORED, "an MJCF file")
    require("mujoco")
    is_text = isinstance(path_or_text, str) and path_or_text.lstrip("\ufeff \t\r\n").startswith("<")
    where, data = contents(path_or_text, is_text, MAX_BYTES)
    file = None if is_text or isinstance(path_or_text, bytes) else Path(path_or_text)
    with as_user_error(where), _lines_of_includes(b"<include" in data):
        check_doctype(data)
        _check_root_and_size(data)
        elements = Elements(*_compiled(data, file), _lines_of_options(data))
        with np.errstate(all="ignore"):  # what is not finite is found when the tree is checked
            tree = _tree(elements, words, file.stem if file else "robot", inertia, report, meshes)
    touching = contact_count(elements.model)
    if touching and "contact" not in words:
        pairs = f"pairs of bodies that could touch: {touching}"
        text = f"{where}: contacts are not simulated ({pairs}); --ignore contact: no warning"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return tree


def _compiled(data: bytes, file: Path | None) -> tuple[Any, Any]:
    """MuJoCo's specification and its compiled model."""
    import mujoco

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault("is not UTF-8 text", data.count(b"\n", 0, error.start) + 1) from None
    if "\0" in text:
        raise Fault("is not a text", text[: text.index("\0")].count("\n") + 1)
    said = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)  # the default writes a file MUJOCO_LOG.TXT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated attributes
            specification = mujoco.MjSpec.from_file(str(file)) if file else mujoco.MjSpec.from_string(text)
            return specification, specification.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        if "XML parse error" in str(error) and "include" not in str(error).lower():
            parsed(data, None)  # which knows the line
        raise _as_fault(str(error)) from None
    finally:
        mujoco.set_mju_user_warning(said)


def _check_root_and_size(data: bytes) -> None:
    """Refuse an include file and sizes that no robot has; what is not XML is left to the compiler."""
    try:
        root = parsed(data, None)
    except Fault:
        return
    if root.tag == "mujocoinclude":
        hint = "build the model with a <mujoco> root that includes it"
        raise Fault(f"<mujocoinclude> is an include file of an MJCF model, not a model: {hint}", root.sourceline)
    for element in root.iter("replicate", "composite", "flexcomp", "hfield"):
        above = [element, *element.iterancestors("replicate")]
        words = [word for e in above for key in ("count", "nrow", "ncol") for word in e.get(key, "").split()]
        copies = np.prod([float(word) for word in words if word.isascii() and word.isdigit()] or [1.0])
        largest = MAX_CELLS if element.tag == "hfield" else MAX_BODIES
        if copies > largest:
            raise Fault(f"<{element.tag}>: {copies:g} elements are too many; at most {largest}", element.sourceline)


def _lines_of_options(data: bytes) -> dict[str, int]:
    """The lines of the attributes of <option>, which the compiler does not keep."""
    try:
        options = list(parsed(data, None).iter("option"))
    except Fault:
        return {}
    return {str(name): int(option.sourceline) for option in options for name in option.attrib}


def _as_fault(message: str) -> Fault:
    """The message of MuJoCo's compiler in one line."""
    found = LINE.search(message)
    text = LINE.sub("", message, count=1) if found else message
    text = re.sub(r"^(XML )?Error: (Error: )?", "", text)
    text = re.sub(r"\s*Element name '', id \d+", "", text)
    text = re.sub(r"\s*Element (?:name )?'([^']*)'(, id \d+)?", r" (element \1)", text)
    text = re.sub(r"\s+", " ", text).strip(" ,")
    return Fault(f"compiler of MuJoCo: {_short(text)}", int(found[1]) if found else 0)


def _short(text: str) -> str:
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= 200 else f"{text[:197]}..."


@contextmanager
def _lines_of_includes(has_includes: bool) -> Iterator[None]:
    """With includes a line may be that of another file, and the message says so."""
    try:
        yield
    except Fault as fault:
        if has_includes and fault.line:
            raise Fault(f"line {fault.line} here or in an included file: {fault}") from None
        raise


def _tree(
    elements: Elements, ignore: frozenset[str], default_name: str, inertia: str, report: Report, meshes: Meshes | None
) -> BodyTree:
    model = elements.model
    check_count(int(model.nbody), "body")
    unsupported = Unsupported(ignore)
    note_unsupported(elements, unsupported)
    bodies, joints, poses = elements.chains()
    if not joints:
        raise Fault("no body of the model can move: there is no joint")
    joints = coupled(elements, with_motors(elements, joints, unsupported), unsupported)
    unsupported.check()
    name = str(elements.specification.modelname or "")
    name = default_name if name in ("", "MuJoCo Model") else name
    lines = {joint.name: elements.line_of_joint(i) for i, joint in joints.items()}
    placed = [(joint, lines.get(joint.name, 0)) for joint in elements.in_order(joints)]
    return arranged(name[:200], bodies, placed, poses, "body", elements.shapes(meshes), inertia, report)
