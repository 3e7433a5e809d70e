"""Every tolerance of the tests, with its reason. A test that misses its tolerance shows a wrong model, not a wrong tolerance."""

# --- single evaluations of the equations: relative to the largest element of the reference ----------------------------------

GOLDEN = 1e-10
"""The golden data's own: rounding of the recursion grows with the condition of the mass matrix, 2e-15 seen at n = 10."""

ENGINES = 1e-11
"""Two engines do the same operations in a different order; 1e-13 seen at n = 50, where the recursion is longest."""

OTHER_CODE = 1e-10
"""Another formulation rounds differently. Seen at n = 50: 3e-14 with articulated bodies, 3e-11 with a dense mass matrix."""

IDENTITY = 1e-10
"""Exact identities (power, momentum, symmetry), with derivatives by complex steps that add no truncation error."""

# --- trajectories -----------------------------------------------------------------------------------------------------------

TIGHT = 1e-9
"""Relative tolerance given to the solver where a trajectory is compared with a reference."""

GOLDEN_ANGLE = 1e-6
"""rad over 10 s at TIGHT: the promise of the project. The start of the example is not chaotic (growth 5 in 10 s)."""

GOLDEN_RATE = 1e-5
"""rad/s over 10 s at TIGHT: the rates of ten short rods are about ten times as large as the angles."""

TIGHTEST = 1e-11
"""Relative tolerance given to the solver where the answer is known exactly."""

CLOSED_FORM = 1e-8
"""rad at TIGHTEST: a pendulum that swings up to 3 rad lingers near its upper rest and magnifies errors about 50-fold."""

ENERGY = 1e-7
"""J per J of the largest term, at TIGHT over 2 s; 1e-10 seen of 42 J at 1e-9."""

COMMUNICATION_STEP = 1e-6
"""rad over 2 s at TIGHT: what is left of the communication step is the solver's error, which stays below the golden promise."""

STIFF = 1e-5
"""rad, stiff chain at the default tolerance 1e-6 against a reference at 1e-11: the same order as the tolerance, times ten."""

IMPORTERS = 1e-9
"""rad between hosts that run the same binary with equal steps: their clocks differ by rounding, their inputs are equal."""

REFERENCE_RESULT = 1e-7
"""The result inside the FMU is made at 1e-9 and written with 12 digits; relative to the largest value of each signal."""

EVENT_TIME = 1e-8
"""s: events are located to 1e-10 s on the dense output; errors of the speed at the impact add to it."""

# --- linearisation ----------------------------------------------------------------------------------------------------------

SPECIFIED_MODE = 5e-4
"""rad/s: the specification quotes the lowest mode of ten rods with four digits."""

SPECIFIED_HIGH_MODE = 0.5
"""rad/s: the specification quotes the highest modes in whole numbers."""
