"""Every tolerance of the tests, with its reason. A test that misses its tolerance shows a wrong model, not a wrong
tolerance."""

# ===== the link chain, and what all mechanisms share ==================================================================

# --- the link chain: single evaluations, relative to the largest element of the reference -----------------------------

GOLDEN = 1e-10
"""The golden data's own: rounding of the recursion grows with the condition of the mass matrix, 2e-15 seen at n = 10.
"""

ENGINES = 1e-11
"""Two engines do the same operations in a different order; 5e-14 seen at n = 50, where the recursion is longest."""

SAME_NUMBER = 1e-15
"""A number that is only written and read, or one library call: the last bit."""

OTHER_CODE = 1e-10
"""Another formulation rounds differently. Seen at n = 50: 3e-14 with articulated bodies, 3e-11 with a dense mass
matrix."""

IDENTITY = 1e-10
"""Exact identities (power, momentum, symmetry), with derivatives by complex steps that add no truncation error."""

# --- the link chain: trajectories -------------------------------------------------------------------------------------

TIGHT = 1e-9
"""Relative tolerance given to the solver where a trajectory is compared with a reference."""

GOLDEN_ANGLE = 1e-6
"""rad over 10 s at TIGHT: the promise of the project (3e-9 seen). The start of the example is not chaotic: errors grow
5-fold in 10 s."""

GOLDEN_RATE = 1e-5
"""rad/s over 10 s at TIGHT: the rates of the fastest mode, 84 rad/s, carry up to 84 times the error of the angles (2e-7
seen)."""

TIGHTEST = 1e-11
"""Relative tolerance given to the solver where the answer is known exactly."""

CLOSED_FORM = 1e-8
"""rad at TIGHTEST: a pendulum that swings up to 3 rad lingers near its upper rest and magnifies errors about 50-fold.
"""

ENERGY = 1e-9
"""J per J of the largest term, at TIGHT over 2 s: the solver keeps each step to 1e-9 (8e-11 seen)."""

DEFAULT = 1e-5
"""rad over 2 s at the solver's default tolerance 1e-6, times ten for the growth of errors (3e-7 seen)."""

SOLVER_SETTING = 1e-7
"""rad over 2 s: far above what a solver set to 1e-10 leaves (1e-11 seen) and far below what one set to 1e-3 does (6e-5
seen)."""

CAPPED = 1e-10
"""rad over 2 s with internal steps of at most 2 ms: the method's own error there is rounding (2e-12 seen), whatever the
tolerance."""

COMMUNICATION_STEP = 1e-7
"""rad over 2 s at TIGHT: what is left of the communication step is the solver's error (3e-10 seen), a tenth of the
golden promise."""

STIFF = 1e-5
"""rad, stiff chain at the default tolerance 1e-6 against a reference at 1e-9: the tolerance times ten (4e-6 seen)."""

IMPORTERS = 1e-9
"""rad between hosts that run the same binary with equal steps: their clocks differ by rounding, their inputs are equal.
"""

EXPLICIT_IMPLICIT = 1e-4
"""rad, m, J over 20 steps at the default tolerance 1e-6: the errors of two methods, times a hundred."""

REFERENCE_RESULT = 1e-7
"""The result inside the FMU is made at 1e-9 and written with 12 digits; relative to the largest value of each signal.
"""

IMPACT_STATE = 1e-7
"""m and m/s after some impacts at up to 5 m/s and 10 m/s2: EVENT_TIME times ten."""

EVENT_TIME = 1e-8
"""s: events are located to 1e-10 s on the dense output; errors of the speed at the impact add to it."""

# --- the link chain: linearisation ------------------------------------------------------------------------------------

SPECIFIED_MODE = 5e-4
"""rad/s: the specification quotes the lowest mode of ten rods with four digits."""

CONSERVATIVE = 1e-6
"""Imaginary over real part of the squared frequencies: rounding of an unsymmetric eigenvalue problem of size 30."""

ROPE = 1e-3
"""Relative: twenty rods against a rope, which differ as 1/n^2 (8e-5 seen)."""

SECOND_ORDER = 0.1
"""Relative: an error of order 1/n^2 falls by 4 when n doubles, up to terms of higher order (3 percent seen from 5 to
10)."""

SPECIFIED_HIGH_MODE = 0.5
"""rad/s: the specification quotes the highest modes in whole numbers."""

# ===== the exoskeleton ================================================================================================

# --- the exoskeleton: single evaluations, relative to the largest element of the reference ----------------------------

EXO_GOLDEN = 1e-9
"""The specification's own; 1e-14 seen."""

FORMS = 1e-10
"""Matrices against recursion: the promise of the project; 1e-12 seen for nine links near ill-conditioning."""

EXO_ENGINES = 1e-11
"""Engines do the same operations in another order."""

EXO_IDENTITY = 1e-10
"""Exact identities: symmetries, power balance, momentum."""

STRAIGHT = 6e-5
"""The parameters of the 3-link model are those of the straight 6-link model, rounded to four digits."""

# --- the exoskeleton: trajectories ------------------------------------------------------------------------------------

EXO_TIGHT = 1e-9
"""Relative tolerance given to the solver where a trajectory is compared with a reference."""

EXO_TRAJECTORY = 1e-6
"""m, rad and their rates over a smooth second at EXO_TIGHT: the specification's own (1e-8 seen)."""

EXO_EVENT_TIME = 1e-6
"""s: the specification's own (1e-9 seen)."""

HYBRID_STATE = 1e-5
"""m, rad and rates over a second with five events at EXO_TIGHT: the specification's own (1e-8 seen)."""

MODEL_EXCHANGE = 1e-4
"""m, rad and rates over a second with five events in CVode at 1e-8, whose error control is per step and whose events
are found to 1e-7 s."""

LOSS = 1e-6
"""J: loss of an impact at EXO_TIGHT."""

LOSS_RATIO = 1e-6
"""Relative: loss of an impact against the kinetic energies before and after it, small differences of large numbers."""

IMPACT_VELOCITY = 1e-7
"""Relative to the largest: velocities after an impact against brute force over all sets of feet, with dense matrices of
random, at times ill-conditioned, postures."""

STOPPED_FOOT = 1e-6
"""m/s: what an impact leaves of the velocity of a foot that it stops, by dense matrices of the same postures."""

IMPULSE = 1e-6
"""Relative, and N s: the jump of the momentum against the sum of the impulses, by dense matrices."""

REBOUND = 1e-3
"""Relative: speeds and energies 1e-6 s before and after an impact, between which gravity also acts."""

HOPS_BALANCE = 1e-4
"""J of some hundreds, over a second of hops at the default tolerance 1e-6."""

PRESCRIBED_LENGTH = 1e-7
"""m over 0.4 s at EXO_TIGHT: a driven length against its closed form."""

DENSE_TRAJECTORY = 1e-5
"""m, rad and rates: the matrix form over 0.25 s at 1e-9 against the golden trajectory."""

STANDING_ACCELERATION = 1e-6
"""m/s2, rad/s2: accelerations at a golden equilibrium, whose reactions of some hundred newtons act on light links."""

WALK_BALANCE = 1e-6
"""Of the energy dissipated, over 11 s of walking with held moments and an impact at every step."""

CAPTURE_POINT = 1e-9
"""m: placement of the feet against the closed form; errors grow fivefold with each of six steps."""

MASSLESS_LEGS = 1e-6
"""Relative: a closed form for legs without mass, against legs of 1e-9 kg."""

EXO_ENERGY = 1e-5
"""J of some hundreds, over a second at EXO_TIGHT: each internal step may add up to 1e-9 in each state (1e-7 seen)."""

DRIFT = 1e-9
"""m: a foot on its pin at the end of a step, after projection (1e-16 seen)."""

SMOOTH_BALANCE = 1e-6
"""Share of the energy exchanged that the balance may miss over 60 s of random excitation at tolerance 1e-8."""

BELOW = 1e-6
"""m: how deep a foot may be below the ground at a communication point."""

EXO_POWER = 1e-8
"""Relative: the balance of powers of some thousand watts is a difference of terms a thousand times larger."""

# ===== the wheeled cart, its guidance and its controller ==============================================================

# --- the wheeled cart, its guidance and its controller: the golden data's own (bounds.json) ---------------------------

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

CART_ENERGY = 1e-9
"""Energy minus work, relative to the largest energy, over 10 s at CART_SOLVER."""

CART_TRAJECTORY = 1e-7
"""m, rad, m/s over 10 s at CART_SOLVER."""

CART_DECAY = 1e-8
"""m/s: violations against exp(A t) p(0) under the exact law."""

CART_SOLVER = 1e-10
"""Relative tolerance given to the solver for all of these."""

# --- the wheeled cart, its guidance and its controller: our own -------------------------------------------------------

ROUNDING = 1e-12
"""An identity of a few operations on numbers of the order of 1 to 100."""

SYMMETRY = 1e-9
"""N m, of torques of the order of 10: the same sums in other coordinates; 1e-12 seen for most, amplified where theta3
is small."""

CART_SAME_MOTION = 1e-8
"""m, rad, m/s over 8 s: two plants under the same torques; 3e-10 seen."""

DAMPED_Y = 5e-3
"""m/s: what the damped law leaves of the decay of y; the specification's own bound."""

FIELD_SYMMETRY = 1e-9
"""m/s: the field in a world that is turned and moved; its weights divide by small numbers."""

PUBLISHED_FIELD = 1e-9
"""Relative, m/s: the article's field against its formulas as printed, which divide by small numbers."""

ERRATUM_LOOP = 1e-7
"""m/s: decay of the violations against the closed form, solved at 1e-8."""

COASTING = 1e-9
"""m/s, J, rad over 5 s: a straight motion that the solver integrates without error, up to rounding."""

TWO_METHODS = 1e-8
"""Jets against differences of fourth order over steps of 1e-3, of second derivatives of the order of 10; truncation
1e-9."""

# ===== trees and the spherical arm ====================================================================================

# --- trees and the spherical arm: single evaluations, relative to the largest element of the reference ----------------

ROBOTS = 1e-10
"""Accelerations of real robots against Pinocchio, as promised. Light fingers behind heavy arms cost digits: 2e-14 seen.
"""

SENSORS = 1e-9
"""Frames of sensors against Pinocchio: two recursions over twelve joints (1e-13 seen)."""

MUJOCO = 1e-9
"""Accelerations of MJCF models against mj_forward without contacts and constraints, as promised; 4e-10 seen for a mouse
with rotor inertias of 1e-6 kg m2, 6e-13 for all others."""

SAME_ROBOT = 1e-12
"""Relative: one robot described in two formats; poses are composed in another order."""

TREE_POWER = 1e-8
"""Power balance, relative to the sum of the powers, with a derivative by central differences of order 4 over steps of
2e-4 s; 2e-11 seen."""

ROBOT_TABLE = 1e-9
"""Accelerations of all robots of example-robot-data against Pinocchio, mimic joints by projection, as promised; bodies
of nearly no inertia cost digits: 2e-10 seen with icub, 2e-11 with others."""

CLOSED_MODE = 1e-9
"""Relative: an eigenvalue of a 2 x 2 block against its closed form."""

ROUND_TRIP = 1e-10
"""Inverse after forward dynamics: two recursions round differently."""

TOTAL_MASS = 1e-12
"""Relative: a sum of some ten masses in another order, against Pinocchio."""

STOP_LOSS = 1e-9
"""Relative: the power of a stop's damper, a product of a few numbers, against its closed form."""

# --- trees and the spherical arm: trajectories ------------------------------------------------------------------------

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

TREE_SAME_MOTION = 1e-7
"""m, rad: the arm with quaternions and with angles over 2 s at 1e-10; both solvers' errors, magnified at most 4-fold;
4e-10 seen."""

ARM_FORMS = 1e-7
"""m, rad, J: quaternions against Euler angles at TIGHT, up to 0.03 rad before the singularity of the angles."""

ARM_SAMPLED_MINIMUM = 2e-3
"""A minimum over samples of 0.1 s; the golden one is also taken between them."""

BASE_MOTION = 1e-9
"""Relative: a base with constant acceleration, which the solver integrates exactly up to rounding."""

BALANCE = 1e-7
"""J per J of the largest term over a trajectory at 1e-9: the energies are integrated with the same error control as the
states."""

STOP_BALANCE = 1e-6
"""J per J of kinetic energy at 1e-9: a stop's force has a kink where it begins, which the solver steps over; 1e-7 seen
over ten impacts."""

STOP_DEPTH, STOP_SPEED = 1e-5, 1e-6
"""Relative, m/s: what remains after 6 s of the motion of a joint that comes to rest on its stop."""

CONSERVED = 1e-8
"""Momentum, relative to its size, over a trajectory at 1e-11."""

NORM = 1e-12
"""Of quaternions, at communication points: they have just been divided by their length; rounding only."""

# --- trees and the spherical arm: control -----------------------------------------------------------------------------

BOUNCING_BALL = 1e-8
"""m over a second at TIGHTEST, five impacts against power series of 40 digits (2e-10 seen)."""

RESTITUTION = 1e-6
"""Relative: the speed after an impact, at TIGHT."""

SLIDING = 1e-5
"""Relative: what is left of the first bounces of a box after three seconds (1e-7 seen)."""

ROLLING = 1e-5
"""Relative: what is left of the first bounces of a ball after two seconds (9e-7 seen)."""

GROUND_ENERGY = 1e-7
"""Relative to the energy at the start, over dozens of touches at TIGHT (1e-9 seen)."""

WEIGHT = 1e-6
"""Relative: what feet carry of a robot at rest, as promised."""

SAME_STIFFNESS = 1e-10
"""Relative: the derivative of the ground's force, of a depth that is a small difference of lengths."""

GROUND_STEP = 1e-5
"""m and rad/s after a tumble at TIGHT: an error grows with every touch."""

TREE_DECAY = 1e-8
"""rad: a closed loop without sampling is a linear oscillator, solved at 1e-10; 3e-11 seen."""

SAMPLED_DECAY = 0.03
"""Of the largest error of the start: torques held over 1 ms lag by half of it, omega h = 1e-2 for omega = 10 rad/s."""

AT_REST = 1e-8
"""m/s2, rad/s2: what gravity compensation leaves of accelerations of the order of 10; rounding through a mass matrix of
condition 1e3."""

# ===== the native FMU =================================================================================================

# --- the native FMU: the solver alone ---------------------------------------------------------------------------------

NATIVE_GLOBAL_ERROR = {
    "oscillator": 3.0,
    "non-autonomous": 50.0,
    "Kepler": 300.0,
    "Arenstorf": 50_000.0,
    "decay to a cosine": 3.0,
}
"""Global error in units of the tolerance: what the step control admits per step, times what the problem does to an
error (1.6, 30, 160, 26,000 and 0.7 seen). scipy's DOP853 has 1.6, 25, 94, 6,500 with the same tolerances; an error
estimate that vanishes by chance gives the 30 and the 25."""

STIFF_ERROR = 10.0
"""The same for van der Pol's and Robertson's equations, which forget errors; 4.6 seen."""

ORDER = 0.4
"""How far an observed order of convergence may be below the theoretical one: step sizes are not infinitely small."""

WORK = 1.35
"""Evaluations over those of scipy's DOP853 at the same tolerance: 1.32 at 1e-3, where the first steps dominate, 1.0 at
1e-10."""

LONG_STEP = 5.0
"""Largest error of a state at the ends of communication steps inside the solver's own steps, in units of the tolerance:
up to 2 in an oscillator over 10 s."""

EVENT_AT = 1e-9
"""s: location of an event whose time is known, at a tolerance of 1e-10; 4e-11 seen."""

SMALL_MODEL = 1e-8
"""m, m/s over 2 s at a tolerance of 1e-10: against scipy at 1e-12, and against a closed form."""

# --- the native FMU: one evaluation through different code ------------------------------------------------------------

SAME_OPERATIONS = 1e-13
"""Relative: the same operations in the same order, by compilers that may only differ in library functions such as sin.
"""

LOOPS = 1e-12
"""Relative, loops against straight-line code: the same operations in the same order; differs only if the graph was cut
by cse elsewhere."""

TANGENT = 1e-10
"""Relative: exact derivatives by CasADi (forward or reverse) and by the FMU (forward) differ in rounding alone; 1e-13
seen."""

CENTRAL = 1e-6
"""Relative: central differences with steps of 1e-5 have a truncation error of 1e-10 and a rounding error of 1e-11 over
the step; 3e-8 seen."""

# --- the native FMU: trajectories -------------------------------------------------------------------------------------

CVODE = 2e-6
"""rad over 10 s: FMPy's CVode at 1e-9 strays 4e-7 from the reference on the golden example, because its control is per
step."""

CVODE_RATE = 2e-4
"""rad/s, the same: the fastest modes of ten rods swing with 90 rad/s, so rates are that much less accurate than angles;
4e-5 seen."""

CASADI = 1e-6
"""rad over 1 s: CasADi's integrator on the imported FMU, whose own tolerance is set to 1e-9."""

SAME_BINARY = 1e-9
"""rad between hosts that run one model with equal steps: their clocks differ by rounding."""

OTHER_COMPILER = 1e-12
"""rad over 1 s at a tolerance of 1e-9: the same C by two compilers; sin and tanh of two libraries differ by an ulp."""

POLYNOMIAL_INPUT = 1e-9
"""rad: closed form of a free rod driven by a cubic torque, which the method of order 8 integrates exactly up to
rounding."""

HELD_INPUT = 1e-5
"""rad: 2,000 steps with the torque held at its mean over the step, against one step with the polynomial; second order
in the step."""

OUTPUT_DERIVATIVE = 1e-5
"""Relative: central differences of outputs over two steps of 1e-4 s."""

IMPACT = 1e-8
"""s and m: Co-Simulation locates an impact to 1e-10 s; the speed at it carries the integration error."""

IMPACT_CVODE = 1e-5
"""s and m: Model Exchange in FMPy, whose root finding is as good as its integration at 1e-8 and adds up from impact to
impact."""

# --- the native FMU: resources ----------------------------------------------------------------------------------------

MEMORY_PER_INSTANCE = 200_000
"""bytes, for ten links: two dense Jacobians of 22 x 22 and some vectors make 20 kB; the limit leaves room for the
allocator."""

# ===== the PID controller =============================================================================================

PID_SOLVER = 1e-11
"""Relative tolerance given to the solver where the answer is known exactly."""

PID_EXACT = 1e-8
"""Of signals of the order of 10 over a few seconds at PID_SOLVER, or of a thousand steps with one rounding error and
one solver error each; 5e-10 seen."""

SINGLE = 1e-13
"""One evaluation of a sum of a few products."""

# ===== programmed constraints =========================================================================================

PROGRAM_EXACT = 1e-10
"""Relative: two ways through the same linear algebra, matrices of condition up to 1e4."""

PROGRAM_DECAY = 1e-8
"""m, m/s: violations against their exponentials over 2 s at PROGRAM_SOLVER; 1e-10 seen."""

PROGRAM_DERIVATIVE = 1e-8
"""m/s2: against differences of fourth order over steps of 1e-3."""

PROGRAM_RESIDUAL = 1e-9
"""m/s2: what an exact solution of the linear equations leaves of them along a trajectory."""

PROGRAM_SOLVER = 1e-11
"""Relative tolerance given to the solver."""

# ===== the rehearsal hosts ============================================================================================

REFERENCE = 1e-9
"""Relative tolerance of the Co-Simulation that hosts are compared with."""

REFERENCE_ERROR = 1e-7
"""What that leaves in 1 s, accelerations and reactions included, times ten (1e-8 seen with the exoskeleton)."""

HOST_GLOBAL_ERROR = {"BDF": 3000.0, "LSODA": 1000.0, "RK45": 500.0, "Radau": 30.0}
"""Error of a Model Exchange host in units of its tolerance: SciPy's solvers control the error of a step, not of the
result. The fastest mode of the chain swings with 84 rad/s and is not damped: 920, 180, 130 and 1.5 seen; the
exoskeleton has 660 with BDF. Others have less than a fifth."""

EULER = 2e-2
"""Error of Richardson's extrapolation from steps of 1e-4 s and half of that over 0.5 s: 6e-3 seen with the chain's
fastest mode, 4e-3 with the exoskeleton, 1e-5 and less with others."""

CO_SIMULATION = 1e-5
"""Error of Co-Simulation with tolerance 1e-6, times ten (7e-7 seen)."""

STEP_DOUBLING = 1e-4
"""One step of Co-Simulation with tolerance 1e-6 against two of half the size, accelerations and reactions included:
1e-5 seen with the exoskeleton's stiff links."""

IMPACT_LOSS = 300.0
"""Relative error of the energy lost in the exoskeleton's last impact, in units of the host's tolerance: the error of
its speed, 114 seen with BDF."""

KNOWN_LOSS = 5e-4
"""J: the loss in the default experiment of the exoskeleton is quoted with four digits."""

COARSE_GAP = 2e-4
"""m: height of the feet of the exoskeleton in a host with a tolerance of 1e-4."""

STEP_EVENTS_PER_SECOND = 1.0
"""Every one restarts the host's solver."""

DEFAULT_TOLERANCE = 1e-6
"""Of the default experiments. OpenModelica does not tell the FMU its own: with a coarser one it is asked for more step
events (91 in 0.6 s seen at 1e-4)."""

SAME_ERROR = 2.0
"""A run whose step events are honoured against one whose are not: noise of the solver's step sizes; 1 when there are
none."""

# ===== linear models and regulators ===================================================================================

CENTRAL_DIFFERENCE_STEP = 1e-6
"""Of a state or an input."""

CENTRAL_DIFFERENCE = 1e-7
"""Relative, over CENTRAL_DIFFERENCE_STEP.

Truncation is 1e-12 times third derivatives, rounding is 1e-16 / CENTRAL_DIFFERENCE_STEP times values of some hundred.
"""

EQUILIBRIUM = 1e-9
"""Rates, states and modes at a point that `trim` found: it ends when rates are 1e-9 of those at the start."""

ARITHMETIC = 1e-12
"""Relative: some operations in another order, rounded some thousand times."""

STANDING_REACTION, STANDING_FOOT, STANDING_HIP = 1e-4, 1e-6, 1e-5
"""Relative, m, m: the exoskeleton standing for 0.2 s at an unstable equilibrium, at the default tolerance."""

CONSTRAINT_MODE = 1e-4
"""1/s: double eigenvalues are found to the root of their rounding errors."""

QUATERNION_MODE = 1e-6
"""1/s: a single eigenvalue that the regulator must not change."""

RICCATI = 1e-10
"""Relative: the solution of the Riccati equation against a closed form."""

REGULATED_ANGLE, REGULATED_TORQUE = 1e-4, 1e-2
"""rad, N m: what remains of a deviation of 0.4 rad after 8 s."""

# ===== systems of FMUs and sweeps =====================================================================================

UNIT_FACTOR, UNIT_VALUE = 1e-15, 1e-14
"""Relative: a factor is one division, a value some operations more."""

TIME_GRID = 1e-12
"""s: multiples of a step against equal parts of the span."""

FEEDTHROUGH = 1e-13
"""Relative: a torque computed in the controller and here, from the same angles."""

FEEDTHROUGH_TORQUE = 1e-11
"""N m: the same where a torque of 100 N m crosses zero."""

PYTHON_FMU = 1e-6
"""A system of native FMUs against one of Python FMUs, each at its own steps and a relative tolerance of 1e-9."""

COUPLED_ALONE = 1e-9
"""A system of one FMU against the mechanism alone: the same inputs at the same times."""

HELD_TORQUE = 1e-9
"""rad/s: a free rod under torques that are constant over each period, at a tolerance of 1e-10."""

FINE_STEP = 1e-3
"""rad: fixed steps of 0.2 ms and more, and adaptive steps of tolerance 1e-4, over 2 s."""

ARM_POSTURE, ARM_RATE = 1e-6, 1e-5
"""rad, rad/s: what remains of the arm's motion after 5 s."""

SWAY, SWAY_WEIGHT = 1e-3, 1e-2
"""m, relative: the exoskeleton still sways a little after 3 s."""

COUPLED_ENERGY = 1e-6
"""J: the energy balance over impacts and held moments."""

SOLVER_METHODS = 1e-6
"""m: explicit against implicit steps over 0.2 s at a relative tolerance of 1e-9."""

EULER_STEPS = 1e-14
"""Relative: ten Euler steps against their closed form."""
