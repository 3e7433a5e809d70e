"""Tolerances of the tests of programmed constraints, with their reasons."""

EXACT = 1e-10
"""Relative: two ways through the same linear algebra, matrices of condition up to 1e4."""

DECAY = 1e-8
"""m, m/s: violations against their exponentials over 2 s at SOLVER; 1e-10 seen."""

SOLVER = 1e-11
"""Relative tolerance given to the solver."""
