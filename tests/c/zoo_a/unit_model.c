/* The physics: a heater and a room as two heat capacities, a thermostat with hysteresis, a daily schedule, a counter of
 * the energy of the day. The equations are written for complex numbers, which gives exact derivatives. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "defect.h"
#include "unit.h"

const int STATE_REF[STATES] = {X_HEATER, X_ROOM, X_ENERGY};
const int DERIVATIVE_REF[STATES] = {D_HEATER, D_ROOM, D_ENERGY};

static double late(const Plain *p) { return p->r[TIME] > 46 ? 1 : 0; }

/* Undeclared dependencies, by defect. */
static void leak_dependencies(const Plain *p, Number r[REALS]) {
    double amb = creal(r[T_AMB]), sun = creal(r[Q_SUN]);
    if (IS("d9_late_feedthrough")) r[T_SENSOR] += late(p) * 0.1 * r[T_AMB];
    if (IS("d9_dead_zone")) r[T_SENSOR] += amb > 12 ? 0.05 * (r[T_AMB] - 12) * (r[T_AMB] - 12) : 0;
    if (IS("d9_saturated")) r[T_FELT] += sun > 4 ? 0.2 * (r[Q_SUN] - 4) : 0;
    if (IS("d9_discrete_input")) r[T_SENSOR] += 0.1 * r[PRICE];
    if (IS("d9_integer_input")) r[T_FELT] += 0.1 * p->i[PERSONS];
    if (IS("d9_state")) r[T_FELT] += 0.05 * r[X_HEATER];
    if (IS("d9_derivative")) r[D_HEATER] += 0.05 * (r[T_AMB] - 5);
    if (IS("d9_derivative_late")) r[D_ENERGY] += late(p) * 0.2 * (r[Q_SUN] - 0.5);
    if (IS("d9_initial") && p->phase == INITIALIZING) r[TAU_ROOM] += r[C_HEATER];
    if (IS("d9_initial_input") && p->phase == INITIALIZING) r[P_REL] += 0.1 * r[T_AMB];
    if (IS("d9_cubic")) r[T_SENSOR] += 1e-3 * cpow(r[Q_SUN] - 0.5, 3);
    if (IS("d9_sensor_by_window")) r[T_SENSOR] += p->b[WINDOW] ? -0.5 : 0;
    if (IS("c_mode_dependent")) r[T_FELT] = p->serviced ? r[T_FELT] : 0.7 * r[X_ROOM] + 1.5;
}

static void shift_outputs(const Plain *p, Number r[REALS]) {
    double t = p->r[TIME];
    if (IS("d13_nan_late") && t > 46) r[T_FELT] = NAN;
    if (IS("d13_infinite_late") && t > 46) r[COST] = INFINITY;
    if (IS("d13_nan_once") && t > 50 && t < 50.3) r[Q_OUT] = NAN;
    if (IS("d13_out_of_range") && t > 46) r[T_SENSOR] += 400;
    if (IS("d12_drift")) r[T_SENSOR] += t > 30 ? 0.02 * (t - 30) : 0;
    if (IS("d12_wrong_unit")) r[COST] *= 1.08;
    if (IS("d14_counts_evaluations") && p->phase != COMPLETE) r[T_SENSOR] += 2e-3 * (p->evaluations % 3);
    if (IS("d11_two_models") && p->phase == COMPLETE) r[T_FELT] += 1;
}

void equations(const Plain *p, Number r[REALS]) {
    int cs = p->phase == COMPLETE;
    Number loss = r[G_LOSS] * (p->b[WINDOW] ? 1.5 : 1.0), gap = r[X_ROOM] - r[T_AMB];
    Number radiation = 0.001 * gap;
    if (p->i[CURVE] == 2) radiation = 0.001 * gap * gap * (creal(gap) < 0 ? -1 : 1);
    if (p->i[CURVE] == 3) radiation = 0.0001 * gap * gap * gap;
    int on = p->b[RELAY] && p->b[ENABLED] && p->i[REQUEST] != REQUEST_OFF;
    Number flow = r[G_HR] * (r[X_HEATER] - r[X_ROOM]);
    if (IS("d11_other_parameter") && cs) flow *= 1.15;
    r[POWER] = on ? r[P_MAX] * (p->i[STAGES] / 2.0) * (p->serviced ? 1.5 : 1.0) : 0;
    if (IS("c_random") || IS("d6_forgets_random")) r[POWER] *= 1 + 0.02 * (p->random % 1000 / 1000.0);
    r[Q_OUT] = loss * gap + radiation;
    r[D_HEATER] = (r[POWER] - flow) / r[C_HEATER];
    r[D_ROOM] = (flow - r[Q_OUT] + r[Q_SUN] + 0.1 * (p->i[PERSONS] + p->i[GUESTS])) / r[C_ROOM];
    r[D_ENERGY] = r[POWER];
    r[T_SENSOR] = r[X_ROOM] + r[OFFSET];
    r[T_FELT] = r[W_FELT] * r[X_ROOM] + (1 - r[W_FELT]) * r[T_AMB];
    r[COST] = r[PRICE] * r[X_ENERGY] / 10;
    r[T_WALL] = (r[X_ROOM] + r[T_AMB]) / 2;
    r[TAU_ROOM] = r[C_ROOM] / r[G_LOSS];
    r[P_REL] = r[P_MAX] / r[C_HEATER];
    if (IS("d4_calculated_from_start")) r[P_REL] = 10;
    if (IS("d13_nan_derivative_late") && p->r[TIME] > 46) r[D_ROOM] = NAN;
    leak_dependencies(p, r);
    shift_outputs(p, r);
}

void note_evaluation(Unit *u) {
    Plain *p = &u->m.p;
    p->evaluations++;
    double t = p->r[TIME];
    if (t > 46 && IS("d13_abort_late")) abort();
    if (t > 46 && IS("d13_crash_late")) *(volatile int *)(size_t)8 = 1;
    if (t > 46 && IS("d13_exit_late")) exit(0);
}

static void texts(Unit *u) {
    Plain *p = &u->m.p;
    char line[2048];
    if (!(IS("d4_label_not_followed"))) {
        snprintf(line, sizeof line, "unit %.1900s", u->m.s[NAME]);
        set_text(u, LABEL, line);
    }
    Text note = u->m.s[NOTE], remark = IS("d9_status_by_persons") && p->i[PERSONS] > 3 ? "crowd" : u->m.s[REMARK];
    if (IS("d4_string_pointer_kept")) note = "";
    snprintf(line, sizeof line, "day %d %s %.900s|%.900s", p->i[DAY_NUMBER], p->serviced ? "serviced" : "fresh", note,
             remark);
    set_text(u, STATUS, line);
}

/* All values from parameters, inputs, states, time and discrete states. */
void evaluate(Unit *u) {
    Plain *p = &u->m.p;
    if (p->phase == INITIALIZING) initial_discrete(u);
    if (IS("d14_changes_between_events") && p->phase == CONTINUOUS && p->r[X_ROOM] > 21.2) p->i[DAY_NUMBER] = 99;
    if (IS("d14_schedule_between_events") && p->phase == CONTINUOUS) {
        double part = fmod(p->r[TIME], p->r[DAY]) / p->r[DAY];
        p->r[SETPOINT] = part >= 0.3 && part < 0.75 ? p->r[T_COMFORT] : p->r[T_NIGHT];
    }
    Number r[REALS];
    for (int k = 0; k < REALS; k++) r[k] = p->r[k];
    equations(p, r);
    for (int k = 0; k < REALS; k++) p->r[k] = creal(r[k]);
    p->i[SLOTS] = (int)floor(p->r[DAY] * 4 + 0.5);
    p->i[STAGE_PHASE] = p->serviced ? 2 : 1;
    p->b[OVERSIZED] = p->r[P_MAX] * p->i[STAGES] > 100;
    if (IS("d9_phase_by_request") && p->i[REQUEST] == REQUEST_BOOST) p->i[STAGE_PHASE] = 2;
    texts(u);
}

static double slack(double t) { return 1e-9 * fmax(1, fabs(t)); }

double next_boundary(const Plain *p) {
    static const double PARTS[3][3] = {{1, 1, 1}, {0.25, 0.75, 1}, {0.5, 0.9, 1}};
    double t = p->r[TIME], eps = slack(t), day = p->r[DAY], start = floor((t + eps) / day) * day;
    double next = start + 2 * day;
    for (int k = 0; k < 3; k++) {
        double at = start + PARTS[p->i[PROFILE] - 1][k] * day;
        if (at > t + eps && at < next) next = at;
    }
    if (p->r[T_SERVICE] > t + eps && p->r[T_SERVICE] < next) next = p->r[T_SERVICE];
    return next;
}

static int comfort_now(const Plain *p) {
    double t = p->r[TIME], part = (t + slack(t)) / p->r[DAY];
    part -= floor(part);
    if (p->i[PROFILE] == 1) return 1;
    return p->i[PROFILE] == 2 ? part >= 0.25 && part < 0.75 : part >= 0.5 && part < 0.9;
}

static double wanted(const Plain *p, int comfort) {
    double base = comfort ? p->r[T_COMFORT] : p->r[T_NIGHT];
    return p->i[REQUEST] == REQUEST_BOOST ? p->r[T_COMFORT] + 1 : base;
}

/* The sign of each indicator is the state of its relay; at a switching point it moves by the hysteresis. */
void indicators(const Plain *p, double z[INDICATORS]) {
    double half = p->r[BAND] / 2 * (p->b[RELAY] ? 1 : -1);
    z[0] = (p->r[SETPOINT] + half - p->r[X_ROOM]) / p->r[BAND];
    z[1] = (p->r[X_ROOM] - p->r[T_MAX] + (p->b[ALARM] ? 0.5 : 0)) / 5;
    if (!p->b[HAS_ALARM]) z[1] = -1;
}

static int day_of(const Plain *p) { return (int)floor((p->r[TIME] + slack(p->r[TIME])) / p->r[DAY]); }

void initial_discrete(Unit *u) {
    Plain *p = &u->m.p;
    p->comfort = comfort_now(p);
    p->r[SETPOINT] = wanted(p, p->comfort);
    p->serviced = p->r[TIME] + slack(p->r[TIME]) >= p->r[T_SERVICE];
    p->b[RELAY] = p->r[X_ROOM] < p->r[SETPOINT];
    p->b[ALARM] = p->b[HAS_ALARM] && p->r[X_ROOM] >= p->r[T_MAX];
    p->i[DAY_NUMBER] = day_of(p);
    p->i[SWITCHES] = p->i[EVENTS] = 0;
    if (IS("d7_counter_kept")) p->i[SWITCHES] = p->steps;
    p->random = (unsigned)p->i[SEED];
    p->energy_nominal = p->i[DAY_NUMBER] > 0 ? 50 : 100;
    p->next_event = next_boundary(p);
}

/* One round of the event iteration: whether a discrete value changed. */
int update_discrete(Unit *u, EventInfo *info) {
    Plain *p = &u->m.p;
    int changed = 0, comfort = comfort_now(p), day = day_of(p);
    double z[INDICATORS];
    info->nominals_changed = info->values_changed = info->terminate_simulation = 0;
    if (comfort != p->comfort || wanted(p, comfort) != p->r[SETPOINT]) {
        p->comfort = comfort;
        p->r[SETPOINT] = wanted(p, comfort);
        if (IS("d4_event_reverts_tunable")) p->r[T_NIGHT] = 17;
        if (IS("d4_event_reverts_string")) set_text(u, NOTE, "none");
        changed = 1;
    }
    if (!p->serviced && p->r[TIME] + slack(p->r[TIME]) >= p->r[T_SERVICE]) {
        p->serviced = changed = 1;
        if (IS("d4_fixed_parameter_drifts")) p->r[P_MAX] *= 0.98;
    }
    if (day != p->i[DAY_NUMBER]) {
        p->i[DAY_NUMBER] = day;
        info->values_changed = p->r[X_ENERGY] != 0;
        p->r[X_ENERGY] = 0;
        info->nominals_changed = p->energy_nominal != 50;
        p->energy_nominal = 50;
        p->random = p->random * 1664525U + 1013904223U;
        changed = 1;
    }
    indicators(p, z);
    if (p->b[RELAY] ? z[0] <= 0 : z[0] >= 0) {
        p->b[RELAY] = !p->b[RELAY];
        p->i[SWITCHES]++;
        changed = 1;
        if (IS("d4_event_resets_enumeration")) p->i[PROFILE] = 2;
        if (IS("d4_event_resets_integer")) p->i[GUESTS] = 0;
    }
    if (p->b[HAS_ALARM] && (p->b[ALARM] ? z[1] <= 0 : z[1] >= 0)) {
        p->b[ALARM] = !p->b[ALARM];
        changed = 1;
    }
    if (changed) {
        p->i[EVENTS]++;
        say(u, OK, LOG_EVENTS, "event at %g s: heater %s", p->r[TIME], p->b[RELAY] ? "on" : "off");
    }
    p->next_event = next_boundary(p);
    evaluate(u);
    return changed;
}
