"""Every tolerance of the tests, with its reason. A test that misses its tolerance shows a wrong model, not a wrong tolerance."""

# --- single evaluations of the equations: relative to the largest element of the reference ----------------------------------

GOLDEN = 1e-10
"""The golden data's own: rounding of the recursion grows with the condition of the mass matrix, 2e-15 seen at n = 10."""

ENGINES = 1e-11
"""Two engines do the same operations in a different order; 5e-14 seen at n = 50, where the recursion is longest."""

SAME_NUMBER = 1e-15
"""A number that is only written and read, or one library call: the last bit."""

OTHER_CODE = 1e-10
"""Another formulation rounds differently. Seen at n = 50: 3e-14 with articulated bodies, 3e-11 with a dense mass matrix."""

IDENTITY = 1e-10
"""Exact identities (power, momentum, symmetry), with derivatives by complex steps that add no truncation error."""

# --- trajectories -----------------------------------------------------------------------------------------------------------

TIGHT = 1e-9
"""Relative tolerance given to the solver where a trajectory is compared with a reference."""

GOLDEN_ANGLE = 1e-6
"""rad over 10 s at TIGHT: the promise of the project (3e-9 seen). The start of the example is not chaotic: errors grow 5-fold in 10 s."""

GOLDEN_RATE = 1e-5
"""rad/s over 10 s at TIGHT: the rates of the fastest mode, 84 rad/s, carry up to 84 times the error of the angles (2e-7 seen)."""

TIGHTEST = 1e-11
"""Relative tolerance given to the solver where the answer is known exactly."""

CLOSED_FORM = 1e-8
"""rad at TIGHTEST: a pendulum that swings up to 3 rad lingers near its upper rest and magnifies errors about 50-fold."""

ENERGY = 1e-9
"""J per J of the largest term, at TIGHT over 2 s: the solver keeps each step to 1e-9 (8e-11 seen)."""

DEFAULT = 1e-5
"""rad over 2 s at the solver's default tolerance 1e-6, times ten for the growth of errors (3e-7 seen)."""

SOLVER_SETTING = 1e-7
"""rad over 2 s: far above what a solver set to 1e-10 leaves (1e-11 seen) and far below what one set to 1e-3 does (6e-5 seen)."""

CAPPED = 1e-10
"""rad over 2 s with internal steps of at most 2 ms: the method's own error there is rounding (2e-12 seen), whatever the tolerance."""

COMMUNICATION_STEP = 1e-7
"""rad over 2 s at TIGHT: what is left of the communication step is the solver's error (3e-10 seen), a tenth of the golden promise."""

STIFF = 1e-5
"""rad, stiff chain at the default tolerance 1e-6 against a reference at 1e-9: the tolerance times ten (4e-6 seen)."""

IMPORTERS = 1e-9
"""rad between hosts that run the same binary with equal steps: their clocks differ by rounding, their inputs are equal."""

REFERENCE_RESULT = 1e-7
"""The result inside the FMU is made at 1e-9 and written with 12 digits; relative to the largest value of each signal."""

IMPACT_STATE = 1e-7
"""m and m/s after some impacts at up to 5 m/s and 10 m/s2: EVENT_TIME times ten."""

EVENT_TIME = 1e-8
"""s: events are located to 1e-10 s on the dense output; errors of the speed at the impact add to it."""

# --- linearisation ----------------------------------------------------------------------------------------------------------

SPECIFIED_MODE = 5e-4
"""rad/s: the specification quotes the lowest mode of ten rods with four digits."""

CONSERVATIVE = 1e-6
"""Imaginary over real part of the squared frequencies: rounding of an unsymmetric eigenvalue problem of size 30."""

ROPE = 1e-3
"""Relative: twenty rods against a rope, which differ as 1/n^2 (8e-5 seen)."""

SECOND_ORDER = 0.1
"""Relative: an error of order 1/n^2 falls by 4 when n doubles, up to terms of higher order (3 percent seen from 5 to 10)."""

SPECIFIED_HIGH_MODE = 0.5
"""rad/s: the specification quotes the highest modes in whole numbers."""
