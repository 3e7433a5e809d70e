"""Every tolerance of the rehearsal, with its reason. Errors are relative to the largest value of an output, or to 1 in its unit where that is larger."""

REFERENCE = 1e-9
"""Relative tolerance of the Co-Simulation that hosts are compared with."""

REFERENCE_ERROR = 1e-7
"""What that leaves in 1 s, accelerations and reactions included, times ten (1e-8 seen with the exoskeleton)."""

GLOBAL_ERROR = {"BDF": 3000.0, "LSODA": 1000.0, "RK45": 500.0, "Radau": 30.0}
"""Error of a Model Exchange host in units of its tolerance: SciPy's solvers control the error of a step, not of the result. The fastest mode of the
chain swings with 84 rad/s and is not damped: 920, 180, 130 and 1.5 seen; the exoskeleton has 660 with BDF. Others have less than a fifth."""

EULER = 2e-2
"""Error of Richardson's extrapolation from steps of 1e-4 s and half of that over 0.5 s: 6e-3 seen with the chain's fastest mode, 4e-3 with the exoskeleton,
1e-5 and less with others."""

CO_SIMULATION = 1e-5
"""Error of Co-Simulation with tolerance 1e-6, times ten (7e-7 seen)."""

STEP_DOUBLING = 1e-4
"""One step of Co-Simulation with tolerance 1e-6 against two of half the size, accelerations and reactions included: 1e-5 seen with the
exoskeleton's stiff links."""

IMPACT_LOSS = 300.0
"""Relative error of the energy lost in the exoskeleton's last impact, in units of the host's tolerance: the error of its speed, 114 seen with BDF."""

STEP_EVENTS_PER_SECOND = 1.0
"""Every one restarts the host's solver."""

DEFAULT_TOLERANCE = 1e-6
"""Of the default experiments. OpenModelica does not tell the FMU its own: with a coarser one it is asked for more step events (91 in 0.6 s seen at 1e-4)."""

SAME_ERROR = 2.0
"""A run whose step events are honoured against one whose are not: noise of the solver's step sizes; 1 when there are none."""
