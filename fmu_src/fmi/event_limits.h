/* Limits and tolerances of the event loop. Written by build_scripts/limits_header.py from
 * components/mechfmu/simulation/limits.py, which has the same numbers for Python: change them there. */
#ifndef MECHFMU_EVENT_LIMITS_H
#define MECHFMU_EVENT_LIMITS_H

/* Events within one communication step. */
#define EVENT_LIMIT 1000

/* Rounds of the event iteration at one time; more are chattering. */
#define EVENT_ROUNDS 100

/* Evaluations of the equations within one communication step: some ten seconds for the largest mechanisms. */
#define EVALUATION_LIMIT 200000

/* The smallest relative tolerance that the solvers can meet. */
#define MIN_TOLERANCE 1e-13

/* Relative: the host's time may differ from that of the instance by rounding. */
#define TIME_TOLERANCE 1e-9

/* Relative: hosts print start values of the description and read them again. */
#define START_VALUE_TOLERANCE 1e-9

/* In s: zero crossings of guards within it of each other, up to a factor of two, are one event. */
#define EVENT_TIME_TOLERANCE 1e-10

/* Of EVENT_TIME_TOLERANCE: too short to integrate, as the rest after an event at the very end of a step. */
#define NEGLIGIBLE_INTERVAL 1e-3

/* Evaluations of the guards in one step of the solver, to find those that cross zero twice in it. */
#define EVENT_SAMPLES_PER_STEP 8

#endif
