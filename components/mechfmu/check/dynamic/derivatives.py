"""D15: derivatives of inputs and outputs in Co-Simulation."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, rule
from .input_ramps import input_derivatives
from .output_slopes import output_derivatives
from .session import Session


@rule("D15", "input and output derivatives", "4.2.1", kinds=("CoSimulation",))
def input_output_derivatives(s: Session) -> Iterator[Finding]:
    """The derivatives of outputs, up to the declared order, are those of the outputs, or 0 if the FMU's own order is
    lower; reading them changes nothing. Derivatives of inputs are accepted and act like inputs that follow them."""
    order = _order(s)
    if order > 0 and s.attempt("output derivatives"):
        yield from output_derivatives(s, order)
    if s.model.flag(s.kind, "canInterpolateInputs") and s.attempt("input derivatives"):
        yield from input_derivatives(s)


def _order(s: Session) -> int:
    text = s.model.interfaces[s.kind].get("maxOutputDerivativeOrder", "0").strip()
    return int(text) if text.isdigit() else 0
