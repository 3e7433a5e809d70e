/* fmi2GetXXX and fmi2SetXXX. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "defect.h"
#include "unit.h"

static const Ref HUGE_BASE = 4000000000U;

/* The index of a value reference, or -1. */
static int index_of(Ref vr, int count) {
    if (IS("c_huge_references")) vr -= HUGE_BASE;
    return vr < (Ref)count ? (int)vr : -1;
}

static int settable(const Unit *u, Role role) {
    int input = role == INPUT_CONTINUOUS || role == INPUT_DISCRETE, parameter = role == FIXED || role == TUNABLE;
    if (IS("r2_sets_constant") && role == CONSTANT) return 1;
    if (IS("r2_sets_output") && (role == OUTPUT || role == CALCULATED)) return 1;
    switch (u->m.p.phase) {
    case INSTANTIATED:
        if (input && IS("c_strict_inputs")) return 0;
        return parameter || role == STATE || role == GUESS || input;
    case INITIALIZING:
        if (IS("d3_no_parameter_in_initialization") && parameter) return 0;
        return parameter || role == STATE || input;
    case EVENT:
    case COMPLETE:
        if (IS("r2_sets_fixed_late") && role == FIXED) return 1;
        if (IS("d3_no_tunable_after_start") && role == TUNABLE) return 0;
        return role == TUNABLE || input;
    case CONTINUOUS:
        if (IS("d3_no_state_by_reference") && role == STATE) return 0;
        return role == INPUT_CONTINUOUS || role == STATE;
    default: return 0;
    }
}

static int readable(Unit *u, const Ref vr[], size_t n, int count, const Role role[]) {
    for (size_t k = 0; k < n; k++) {
        int at = index_of(vr[k], count);
        if (at < 0) {
            if (IS("r2_unknown_crash")) abort();
            if (IS("r2_unknown_ok")) return 0;
            if (IS("r2_other_type") && vr[k] < REALS) return 0;
            refuse(u, "unknown value reference");
            return -1;
        }
        if (IS("c_strict_reads") && u->m.p.phase == INITIALIZING) {
            int derivative = count == REALS && at >= D_HEATER && at <= D_ENERGY;
            int output = role[at] == OUTPUT || (count == REALS && (at == X_ROOM || at == X_ENERGY));
            if (!output && !derivative && role[at] != CALCULATED) {
                refuse(u, "not an output or initial unknown");
                return -1;
            }
        }
    }
    return 1;
}

/* The checks that the four getters share: 1 go on, 0 nothing to do, -1 refused. */
static int before_get(Unit *u, const Ref vr[], size_t n, const void *value, int count, const Role role[], Text what) {
    int phases = READABLE;
    if (IS("d3_no_reading_terminated")) phases &= ~DONE;
    if (IS("d3_no_strings_terminated") && role == STRING_ROLE) phases &= ~DONE;
    if (IS("d3_no_booleans_initializing") && role == BOOLEAN_ROLE) phases &= ~INITIALIZING;
    if (u && IS("r1_reads_too_early") && u->m.p.phase == INSTANTIATED) abort();
    if (!legal(u, phases, what)) return -1;
    if (!n) {
        if (IS("r2_zero_count")) abort();
        return 0;
    }
    if (IS("r2_null_array")) {
        volatile Ref first = vr[0];
        (void)first;
    } else if (!vr || !value) {
        refuse(u, "a null array");
        return -1;
    }
    if (IS("c_strict_get_after_set") && u->m.p.phase == COMPLETE && u->m.p.set_since_step) {
        refuse(u, "fmi2GetXXX after fmi2SetXXX without a step");
        return -1;
    }
    int ready = readable(u, vr, n, count, role);
    if (ready == 1 && !(IS("d3_zero_after_terminate") && u->m.p.phase == DONE)) evaluate(u);
    return ready;
}

static Status got(Unit *u) {
    if (IS("c_warns") && ++u->m.p.steps % 50 == 0) {
        say(u, WARNING, LOG_WARNING, "the sensor needs calibration");
        return WARNING;
    }
    return OK;
}

static double rounded_time(const Plain *p) {
    if (IS("d14_set_time_ignored") && p->phase == CONTINUOUS) return p->last_point;
    if (IS("d5_time_behind") && p->phase == COMPLETE && p->last_good > 0) return p->last_point;
    return p->r[TIME];
}

Status fmi2GetReal(void *c, const Ref vr[], size_t n, double value[]) {
    Unit *u = c;
    int go = before_get(u, vr, n, value, REALS, REAL_ROLE, "fmi2GetReal");
    if (go <= 0) return go ? FAILED : OK;
    for (size_t k = 0; k < n; k++) {
        int at = index_of(vr[k], REALS);
        value[k] = at == TIME ? rounded_time(&u->m.p) : u->m.p.r[at];
        if (IS("d3_zero_after_terminate") && u->m.p.phase == DONE) value[k] = 0;
    }
    return got(u);
}

Status fmi2GetInteger(void *c, const Ref vr[], size_t n, int value[]) {
    Unit *u = c;
    int go = before_get(u, vr, n, value, INTEGERS, INTEGER_ROLE, "fmi2GetInteger");
    if (go <= 0) return go ? FAILED : OK;
    for (size_t k = 0; k < n; k++) value[k] = u->m.p.i[index_of(vr[k], INTEGERS)];
    if (IS("d4_order_of_array")) /* in ascending order of the references, not in that of the array */
        for (size_t k = 0; k < n; k++) {
            size_t rank = 0;
            for (size_t j = 0; j < n; j++) rank += vr[j] < vr[k];
            if (rank < n) value[rank] = u->m.p.i[index_of(vr[k], INTEGERS)];
        }
    return OK;
}

Status fmi2GetBoolean(void *c, const Ref vr[], size_t n, int value[]) {
    Unit *u = c;
    int go = before_get(u, vr, n, value, BOOLEANS, BOOLEAN_ROLE, "fmi2GetBoolean");
    if (go <= 0) return go ? FAILED : OK;
    for (size_t k = 0; k < n; k++) {
        value[k] = u->m.p.b[index_of(vr[k], BOOLEANS)];
        if (IS("d4_boolean_minus_one") && value[k]) value[k] = -1;
    }
    return OK;
}

Status fmi2GetString(void *c, const Ref vr[], size_t n, Text value[]) {
    static char buffer[4096];
    Unit *u = c;
    int go = before_get(u, vr, n, value, STRINGS, STRING_ROLE, "fmi2GetString");
    if (go <= 0) return go ? FAILED : OK;
    for (size_t k = 0; k < n; k++) {
        value[k] = u->m.s[index_of(vr[k], STRINGS)];
        if (IS("d4_one_string_buffer")) {
            snprintf(buffer, sizeof buffer, "%s", value[k]);
            value[k] = buffer;
        }
        if (IS("d4_null_for_empty_string") && !*value[k]) value[k] = NULL;
    }
    return OK;
}

/* The checks that the four setters share. */
static int before_set(Unit *u, const Ref vr[], size_t n, const void *value, int count, const Role role[], Text what) {
    int phases = INSTANTIATED | INITIALIZING | EVENT | COMPLETE | (count == REALS ? CONTINUOUS : 0);
    if (IS("d3_no_strings_in_event_mode") && role == STRING_ROLE) phases &= ~EVENT;
    if (!legal(u, phases, what)) return -1;
    if (!n) {
        if (IS("r2_zero_count")) abort();
        return 0;
    }
    if (IS("r2_null_array")) {
        volatile Ref first = vr[0];
        (void)first;
    } else if (!vr || !value) {
        refuse(u, "a null array");
        return -1;
    }
    for (size_t k = 0; k < n; k++) {
        int at = index_of(vr[k], count);
        if (at < 0) {
            if (IS("r2_unknown_crash")) abort();
            if (IS("r2_unknown_ok")) return 0;
            if (IS("r2_other_type") && vr[k] < REALS) return 0;
            refuse(u, "unknown value reference");
            return -1;
        }
        if (!settable(u, role[at])) {
            refuse(u, "this variable cannot be set now");
            return -1;
        }
    }
    u->m.p.set_since_step = 1;
    return 1;
}

static Status out_of_range(Unit *u) {
    say(u, DISCARD, LOG_DISCARD, "a value is out of its range");
    return DISCARD;
}

static int ignored(const Unit *u, const Role role[], int at) {
    Phase phase = u->m.p.phase;
    int running = phase == EVENT || phase == COMPLETE;
    if (IS("d4_tunable_real_ignored")) return running && role == REAL_ROLE && at == G_LOSS;
    if (IS("d4_tunable_string_ignored")) return running && role == STRING_ROLE && at == NOTE;
    if (IS("d4_tunable_enumeration_ignored")) return running && role == INTEGER_ROLE && at == PROFILE;
    if (IS("d4_tunable_boolean_ignored")) return running && role == BOOLEAN_ROLE && at == ENABLED;
    if (IS("d4_discrete_input_ignored")) return role == INTEGER_ROLE && at == PERSONS && running;
    if (IS("d4_string_input_ignored")) return role == STRING_ROLE && at == REMARK;
    if (IS("d4_parameter_in_initialization")) return phase == INITIALIZING && role == REAL_ROLE && at == P_MAX;
    if (IS("d4_state_in_initialization")) return phase == INITIALIZING && role == REAL_ROLE && at == X_HEATER;
    return 0;
}

Status fmi2SetReal(void *c, const Ref vr[], size_t n, const double value[]) {
    Unit *u = c;
    int go = before_set(u, vr, n, value, REALS, REAL_ROLE, "fmi2SetReal");
    if (go <= 0) return go ? FAILED : OK;
    for (size_t k = 0; k < n; k++) {
        int at = index_of(vr[k], REALS);
        if (!isfinite(value[k]) && !IS("r2_accepts_nan")) return refuse(u, "not a finite number");
        int input = REAL_ROLE[at] == INPUT_CONTINUOUS || REAL_ROLE[at] == INPUT_DISCRETE;
        if (IS("c_accepts_out_of_range") && input) continue;
        if (REAL_LIMITS[at][0] < REAL_LIMITS[at][1] && (value[k] < REAL_LIMITS[at][0] || value[k] > REAL_LIMITS[at][1]))
            return out_of_range(u);
    }
    for (size_t k = 0; k < n; k++) {
        int at = index_of(vr[k], REALS);
        if ((IS("d4_only_first_of_several") && k) || (IS("d4_eight_at_once") && k >= 8) || ignored(u, REAL_ROLE, at))
            continue;
        u->m.p.r[at] = IS("d4_single_precision") ? (float)value[k] : value[k];
    }
    return OK;
}

Status fmi2SetInteger(void *c, const Ref vr[], size_t n, const int value[]) {
    Unit *u = c;
    int go = before_set(u, vr, n, value, INTEGERS, INTEGER_ROLE, "fmi2SetInteger");
    if (go <= 0) return go ? FAILED : OK;
    for (size_t k = 0; k < n; k++) {
        int at = index_of(vr[k], INTEGERS), low = INTEGER_LIMITS[at][0], high = INTEGER_LIMITS[at][1];
        if (IS("r2_enumeration_range") && at == PROFILE && (value[k] < low || value[k] > high)) abort();
        if (low < high && (value[k] < low || value[k] > high)) return out_of_range(u);
        if (at == REQUEST && value[k] != REQUEST_OFF && value[k] != REQUEST_AUTO && value[k] != REQUEST_BOOST)
            return out_of_range(u);
    }
    for (size_t k = 0; k < n; k++) {
        int at = index_of(vr[k], INTEGERS);
        if ((IS("d4_last_integer_of_several") && n > 1 && k == n - 1) || ignored(u, INTEGER_ROLE, at)) continue;
        u->m.p.i[at] = IS("d4_short_integer") ? (short)value[k] : value[k];
    }
    return OK;
}

Status fmi2SetBoolean(void *c, const Ref vr[], size_t n, const int value[]) {
    Unit *u = c;
    int go = before_set(u, vr, n, value, BOOLEANS, BOOLEAN_ROLE, "fmi2SetBoolean");
    if (go <= 0) return go ? FAILED : OK;
    for (size_t k = 0; k < n; k++)
        if (!ignored(u, BOOLEAN_ROLE, index_of(vr[k], BOOLEANS)))
            u->m.p.b[index_of(vr[k], BOOLEANS)] = value[k] ? 1 : 0;
    return OK;
}

Status fmi2SetString(void *c, const Ref vr[], size_t n, const Text value[]) {
    Unit *u = c;
    int go = before_set(u, vr, n, value, STRINGS, STRING_ROLE, "fmi2SetString");
    if (go <= 0) return go ? FAILED : OK;
    for (size_t k = 0; k < n; k++) {
        int at = index_of(vr[k], STRINGS);
        if (!value[k] && !IS("r2_null_string")) return refuse(u, "a null string");
        if (!ignored(u, STRING_ROLE, at)) set_text(u, at, value[k]);
    }
    return OK;
}

Status fmi2GetDirectionalDerivative(void *c, const Ref unknown[], size_t n_unknown, const Ref known[], size_t n_known,
                                    const double seed[], double result[]) {
    Unit *u = c;
    int phases = READABLE;
    if (IS("d3_no_derivative_initializing")) phases &= ~INITIALIZING;
    if (IS("d3_no_derivative_terminated")) phases &= ~DONE;
    if (!legal(u, phases, "fmi2GetDirectionalDerivative")) return FAILED;
    if (IS("c_no_optional_functions")) return refuse(u, "directional derivatives are not provided");
    if (!n_unknown) return OK;
    if (!unknown || !result || (n_known && (!known || !seed))) return refuse(u, "a null array");
    const double tiny = 1e-150;
    Plain *p = &u->m.p;
    evaluate(u);
    Number r[REALS];
    for (int k = 0; k < REALS; k++) r[k] = p->r[k];
    for (size_t k = 0; k < n_known; k++) {
        int at = index_of(known[k], REALS);
        if (at < 0) return refuse(u, "unknown value reference");
        double direction = seed[k];
        if (IS("d10_seed_is_one") && direction != 0) direction = 1;
        if (IS("d10_last_known_only") && k + 1 < n_known) direction = 0;
        if (IS("d10_ambient_missing") && at == T_AMB) direction = 0;
        if (IS("d10_price_missing") && at == PRICE) direction = 0;
        if (IS("d10_parameter_missing") && at == C_ROOM) direction = 0;
        if (IS("d10_state_sign") && at == X_ROOM) direction = -direction;
        if (IS("d10_state_after_service") && at == X_HEATER && p->serviced) direction *= 1.2;
        if (IS("d10_sets_the_known")) p->r[at] += 0.01 * direction;
        r[at] += tiny * direction * I;
    }
    equations(p, r);
    if (IS("c_difference_quotients")) {
        Number base[REALS];
        double largest = 0, scale;
        for (size_t k = 0; k < n_known; k++) largest = fmax(largest, fabs(seed[k]));
        scale = largest > 0 ? 1e-6 / largest : 0;
        Number up[REALS], down[REALS];
        for (int k = 0; k < REALS; k++) base[k] = up[k] = down[k] = p->r[k];
        for (size_t k = 0; k < n_known; k++) {
            int at = index_of(known[k], REALS);
            up[at] = base[at] + scale * seed[k];
            down[at] = base[at] - scale * seed[k];
        }
        equations(p, up);
        equations(p, down);
        for (int k = 0; k < REALS; k++) r[k] = scale > 0 ? (up[k] - down[k]) / (2 * scale) : 0;
    }
    for (size_t k = 0; k < n_unknown; k++) {
        int at = index_of(unknown[IS("d10_unknowns_reversed") ? n_unknown - 1 - k : k], REALS);
        if (at < 0) return refuse(u, "unknown value reference");
        double slope = IS("c_difference_quotients") ? creal(r[at]) : cimag(r[at]) / tiny;
        if (IS("d10_accumulates")) slope += result[k];
        if (IS("d10_row_missing") && at == Q_OUT) slope = 0;
        if (IS("d10_row_linear") && at == Q_OUT) slope *= 1.001;
        result[k] = slope;
    }
    return OK;
}
