"""Rules D1-D16, about the running binary of an FMU, and R1-R4, about hosts that break the rules.

Standard library only, since this package is loaded into the process that runs the FMU; FMPy's CVODE and NumPy, which
integrate Model Exchange FMUs, are imported where they are needed.
"""

from __future__ import annotations

from ..findings import Rule
from .calls import allowed_calls
from .dependencies import dependencies
from .derivatives import input_output_derivatives
from .directional import directional_derivatives
from .events import exchange_events
from .experiment import default_experiment
from .instantiation import instantiation
from .leaks import leaks
from .lifecycle import reset_and_instances
from .loading import loads
from .results import convergence, reference_result
from .robustness.foreign_states import foreign_states
from .robustness.impossible_steps import impossible_steps
from .robustness.invalid_arguments import invalid_arguments
from .robustness.wrong_states import wrong_states
from .saving import saved_states
from .stepping import communication_steps
from .values import setting_values, start_values

RULES: tuple[Rule, ...] = (
    loads,
    instantiation,
    allowed_calls,
    setting_values,
    communication_steps,
    saved_states,
    reset_and_instances,
    start_values,
    dependencies,
    directional_derivatives,
    convergence,
    reference_result,
    default_experiment,
    exchange_events,
    input_output_derivatives,
    leaks,
)
ROBUSTNESS_RULES: tuple[Rule, ...] = (wrong_states, invalid_arguments, impossible_steps, foreign_states)
