"""The mechanism that an FMU was built from."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from ..mechanisms import add_folder, make
from ..mechanisms import names as mechanism_names
from ..model import Mechanism, UserError
from .description import read_description
from .scene import MissingMechanism


def built_mechanism(fmu: str | Path) -> tuple[Mechanism, dict[str, float]]:
    """Return the mechanism that an FMU was built from, and the start values changed then; UserError: there is none."""
    read_description(fmu)  # says what is wrong with the file
    mechanism = mechanism_of(fmu)
    if mechanism is None:
        raise UserError(f"{Path(fmu).name} was not built by mechfmu: its equations are not known")
    return mechanism, {str(name): float(value) for name, value in _model(fmu).get("start", {}).items()}


def _model(fmu: str | Path) -> dict[str, Any]:
    """The contents of resources/model.json; KeyError or ValueError: there is none, or it is not one of mechfmu."""
    with zipfile.ZipFile(fmu) as archive:
        model = json.loads(archive.read("resources/model.json"))
    return {**model, "mechanism": str(model["mechanism"]), "options": dict(model["options"])}


def mechanism_of(fmu: str | Path) -> Mechanism | None:
    """Return the mechanism that an FMU was built from; None: mechfmu did not build it.

    A mechanism outside the package is looked for in the current folder, as `build` does.
    """
    try:
        model = _model(fmu)
    except (KeyError, TypeError, ValueError):
        return None
    key, options = model["mechanism"], model["options"]
    name = Path(fmu).name
    if key not in mechanism_names():
        if not (key.isidentifier() and (Path(key) / "model.py").is_file()):
            raise UserError(
                f"{name} was built from a mechanism {key} that is not here: run the command in the folder that holds "
                f"{key}"
            )
        add_folder(key)
    constants = model.get("constants", {})
    try:
        return make(key, **options).baked(constants, constants)
    except UserError as error:
        raise UserError(f"{name} was built from another version of the mechanism {key}: {error}") from None


def drawable_mechanism(fmu: str | Path) -> Mechanism | MissingMechanism | None:
    """The same for drawing: an FMU can be simulated without the mechanism that it was built from."""
    try:
        return mechanism_of(fmu)
    except UserError as error:
        return MissingMechanism(f"cannot animate: {error}")
    except Exception as error:  # the user's model may be under construction
        return MissingMechanism(
            f"cannot animate: the mechanism that {Path(fmu).name} was built from cannot be loaded: "
            f"{type(error).__name__}: {error}"
        )
