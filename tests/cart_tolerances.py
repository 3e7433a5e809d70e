"""Tolerances of the tests of the wheeled cart, its guidance and its controller, with their reasons."""

# --- the golden data's own (bounds.json) ------------------------------------------------------------------------------------

ACCELERATION = 1e-10
"""Accelerations, relative to the largest: another formulation rounds differently; 2e-15 seen."""

FIELD = 1e-12
"""m/s: the guidance field; 4e-16 seen."""

FIELD_DERIVATIVE = 1e-9
"""Relative: first derivatives of the field; 3e-15 seen."""

CONTROLLER = 1e-9
"""Relative to the largest torque of a case: second derivatives through a division by theta3; 2e-14 seen."""

ROLLING = 1e-12
"""m/s: rolling constraints in the reduced form, where they hold by construction."""

MULTIPLIERS = 1e-9
"""m/s over 10 s: rolling constraints of the form with multipliers, which only their second derivative keeps."""

ENERGY = 1e-9
"""Energy minus work, relative to the largest energy, over 10 s at SOLVER."""

TRAJECTORY = 1e-7
"""m, rad, m/s over 10 s at SOLVER."""

DECAY = 1e-8
"""m/s: violations against exp(A t) p(0) under the exact law."""

SOLVER = 1e-10
"""Relative tolerance given to the solver for all of these."""

# --- our own ----------------------------------------------------------------------------------------------------------------

ROUNDING = 1e-12
"""An identity of a few operations on numbers of the order of 1 to 100."""

SYMMETRY = 1e-9
"""N m, of torques of the order of 10: the same sums in other coordinates; 1e-12 seen for most, amplified where theta3 is small."""

SAME_MOTION = 1e-8
"""m, rad, m/s over 8 s: two plants under the same torques; 3e-10 seen."""

DAMPED_Y = 5e-3
"""m/s: what the damped law leaves of the decay of y; the specification's own bound."""

TWO_METHODS = 1e-8
"""Jets against differences of fourth order over steps of 1e-3, of second derivatives of the order of 10; truncation 1e-9."""
