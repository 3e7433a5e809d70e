"""Tolerances of the tests of trees and of the arm, with their reasons; what they share with the chain's tests is in tolerances.py."""

# --- single evaluations: relative to the largest element of the reference ---------------------------------------------------

ROBOTS = 1e-10
"""Accelerations of real robots against Pinocchio, as promised. Light fingers behind heavy arms cost digits: 2e-14 seen."""

POWER = 1e-8
"""Power balance, relative to the sum of the powers, with a derivative by central differences of order 4 over steps of 2e-4 s; 2e-11 seen."""

ROUND_TRIP = 1e-10
"""Inverse after forward dynamics: two recursions round differently."""

# --- trajectories -----------------------------------------------------------------------------------------------------------

TRAJECTORY_TOLERANCE = 1e-11
"""Relative tolerance given to the solver where a trajectory is compared with the golden one (made at 1e-12)."""

GOLDEN_Q = 1e-8
"""rad over 5 s: the golden data's own; 4e-11 seen."""

GOLDEN_V = 1e-7
"""rad/s over 5 s: the golden data's own."""

GOLDEN_ENERGY = 1e-8
"""J over 5 s, of 29 J: the states' tolerance times weights (76 N) and speeds; 1e-11 seen."""

GOLDEN_MOMENTUM = 1e-8
"""kg m2/s over 5 s: the states' tolerance times inertias of the order of 1."""

SAME_MOTION = 1e-7
"""m, rad: the arm with quaternions and with angles over 2 s at 1e-10; both solvers' errors, magnified at most 4-fold; 4e-10 seen."""

BALANCE = 1e-7
"""J per J of the largest term over a trajectory at 1e-9: the energies are integrated with the same error control as the states."""

STOP_BALANCE = 1e-6
"""J per J of kinetic energy at 1e-9: a stop's force has a kink where it begins, which the solver steps over; 1e-7 seen over ten impacts."""

CONSERVED = 1e-8
"""Momentum, relative to its size, over a trajectory at 1e-11."""

NORM = 1e-12
"""Of quaternions, at communication points: they have just been divided by their length; rounding only."""

# --- control ----------------------------------------------------------------------------------------------------------------

DECAY = 1e-8
"""rad: a closed loop without sampling is a linear oscillator, solved at 1e-10; 3e-11 seen."""

SAMPLED_DECAY = 0.03
"""Of the largest error of the start: torques held over 1 ms lag by half of it, omega h = 1e-2 for omega = 10 rad/s."""

AT_REST = 1e-8
"""m/s2, rad/s2: what gravity compensation leaves of accelerations of the order of 10; rounding through a mass matrix of condition 1e3."""
