"""Rules D1-D12: about the running binary of an FMU.

Standard library only: this package is loaded into the process that runs the FMU.
"""

from __future__ import annotations

from .calls import call_states
from .equations import dependencies, directional_derivatives
from .lifecycle import reset_and_lifecycle
from .loading import instantiation_and_logging, loads
from .results import convergence, reference_result
from .saving import fmu_state
from .stepping import do_step
from .values import setting_values, start_values

RULES = (
    loads,
    instantiation_and_logging,
    call_states,
    setting_values,
    do_step,
    fmu_state,
    reset_and_lifecycle,
    start_values,
    dependencies,
    directional_derivatives,
    convergence,
    reference_result,
)
