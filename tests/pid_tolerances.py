"""Tolerances of the tests of the PID controller, with their reasons."""

SOLVER = 1e-11
"""Relative tolerance given to the solver where the answer is known exactly."""

EXACT = 1e-8
"""Of signals of the order of 10 over a few seconds at SOLVER, or of a thousand steps with one rounding error and one solver error each; 5e-10 seen."""

SINGLE = 1e-13
"""One evaluation of a sum of a few products."""
