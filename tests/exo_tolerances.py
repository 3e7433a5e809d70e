"""Tolerances of the exoskeleton's tests, with their reasons."""

# --- single evaluations, relative to the largest element of the reference ---------------------------------------------------

GOLDEN = 1e-9
"""The specification's own; 1e-14 seen."""

FORMS = 1e-10
"""Matrices against recursion: the promise of the project; 1e-12 seen for nine links near ill-conditioning."""

ENGINES = 1e-11
"""Engines do the same operations in another order."""

IDENTITY = 1e-10
"""Exact identities: symmetries, power balance, momentum."""

STRAIGHT = 6e-5
"""The parameters of the 3-link model are those of the straight 6-link model, rounded to four digits."""

# --- trajectories -----------------------------------------------------------------------------------------------------------

TIGHT = 1e-9
"""Relative tolerance given to the solver where a trajectory is compared with a reference."""

TRAJECTORY = 1e-6
"""m, rad and their rates over a smooth second at TIGHT: the specification's own (1e-8 seen)."""

EVENT_TIME = 1e-6
"""s: the specification's own (1e-9 seen)."""

HYBRID_STATE = 1e-5
"""m, rad and rates over a second with five events at TIGHT: the specification's own (1e-8 seen)."""

MODEL_EXCHANGE = 1e-4
"""m, rad and rates over a second with five events in CVode at 1e-8, whose error control is per step and whose events are found to 1e-7 s."""

LOSS = 1e-6
"""J: loss of an impact at TIGHT."""

ENERGY = 1e-5
"""J of some hundreds, over a second at TIGHT: each internal step may add up to 1e-9 in each state (1e-7 seen)."""

DRIFT = 1e-9
"""m: a foot on its pin at the end of a step, after projection (1e-16 seen)."""

SMOOTH_BALANCE = 1e-6
"""Share of the energy exchanged that the balance may miss over 60 s of random excitation at tolerance 1e-8."""

BELOW = 1e-6
"""m: how deep a foot may be below the ground at a communication point."""

POWER = 1e-8
"""Relative: the balance of powers of some thousand watts is a difference of terms a thousand times larger."""
