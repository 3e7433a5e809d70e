/* fmi2GetXXX and fmi2SetXXX: every value is a named member that the table of variables points to. */
#define _POSIX_C_SOURCE 200809L
#include "tank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READABLE (INITIALIZING | EVENT | CONTINUOUS | STEPPED | FAILED | CANCELED | TERMINATED | BROKEN)
#define SETTABLE (INSTANTIATED | INITIALIZING | EVENT | CONTINUOUS | STEPPED)

static int may_read(Unit *u, const Variable *v) {
    if (BUG(strict_init) && u->core.mode == INITIALIZING) return v->role & (OUTPUT | UNKNOWN);
    return 1;
}

static int may_write(Unit *u, const Variable *v) {
    switch (u->core.mode) {
    case INSTANTIATED: return (v->role & EXACT) || ((v->role & INPUT) && !BUG(strict_early));
    case INITIALIZING: return (v->role & (EXACT | INPUT)) && !(BUG(init_input_refused) && v->role & INPUT);
    case EVENT:
        if (BUG(event_tunable_refused) && v->kind == STRING && v->role & PARAMETER) return 0;
        return v->role & INPUT || (v->role & PARAMETER && v->role & TUNABLE);
    case STEPPED:
        if (BUG(step_tunable_refused) && v->role & CHOICE) return 0;
        return v->role & INPUT || (v->role & PARAMETER && v->role & TUNABLE);
    case CONTINUOUS:
        if (BUG(state_set_refused) && v->role & STATE) return 0;
        return v->kind == REAL && ((v->role & INPUT && !(v->role & DISCRETE)) || v->role & STATE);
    default: return 0;
    }
}

/* finds the variable of one element of a call, or says what is wrong */
static const Variable *element(Unit *u, Kind kind, unsigned vr, int write) {
    const Variable *v = find(u, kind, vr);
    if (!v && BUG(r2_unknown_abort)) abort();
    if (!v)
        fail(u, "there is no variable %u of this type", vr);
    else if (write ? !may_write(u, v) : !may_read(u, v)) {
        if (BUG(r2_sets_all) && write) return v;
        fail(u, "variable %u cannot be %s now", vr, write ? "set" : "read");
        v = NULL;
    }
    return v;
}

static int ready(Unit *u, unsigned modes, const unsigned *vr, size_t n, const void *value, const char *what) {
    if (!allowed(u, modes, what)) return 0;
    if (BUG(r2_zero_refused) && !n) return 0;
    if (n && (!vr || !value)) {
        if (BUG(r2_null_crash)) abort();
        fail(u, "%s without arrays", what);
        return 0;
    }
    if (n > 8 && modes == SETTABLE && BUG(long_arrays_refused)) {
        fail(u, "too many values at once");
        return 0;
    }
    return 1;
}

/* a defect of units that sort what is asked for: references in descending order get their values in ascending order */
static void sorted_answer(const unsigned *vr, size_t n, double *value) {
    for (size_t i = 1; i < n; i++)
        if (vr[i] >= vr[i - 1]) return;
    for (size_t i = 0; i < n / 2; i++) {
        double swap = value[i];
        value[i] = value[n - 1 - i];
        value[n - 1 - i] = swap;
    }
}

/* status of a correct call of a unit that makes use of fmi2Warning */
static fmi2Status pleased(Unit *u) {
    if (!BUG(warns) || ++u->core.steps % 7) return fmi2OK;
    say(u, fmi2Warning, "logStatusWarning", "the pump is warm");
    return fmi2Warning;
}

static int unread_refused(Unit *u) { return BUG(strict_unread) && u->core.mode == STEPPED && u->core.unread; }

#define BEGIN_GET(what) \
    Unit *u = c; \
    if (!ready(u, READABLE, vr, n, value, what)) return fmi2Error; \
    if (unread_refused(u)) return fail(u, "values were set, no step was made"); \
    refresh(u)

EXPORT fmi2Status fmi2GetReal(fmi2Component c, const unsigned vr[], size_t n, double value[]) {
    BEGIN_GET("fmi2GetReal");
    if (BUG(terminated_real_refused) && u->core.mode == TERMINATED) return fail(u, "terminated");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = element(u, REAL, vr[i], 0);
        if (!v) {
            if (BUG(r2_unknown_ok)) continue;
            return fmi2Error;
        }
        value[i] = *real_at(u, v->at);
        if (BUG(terminated_zero) && u->core.mode == TERMINATED && v->vr == 173) value[i] = 0.0;
    }
    if (BUG(order_sorted) && n > 2) sorted_answer(vr, n, value);
    return pleased(u);
}

EXPORT fmi2Status fmi2GetInteger(fmi2Component c, const unsigned vr[], size_t n, int value[]) {
    BEGIN_GET("fmi2GetInteger");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = element(u, INTEGER, vr[i], 0);
        if (!v) {
            if (BUG(r2_unknown_ok)) continue;
            return fmi2Error;
        }
        value[i] = *(int *)(void *)((char *)u->data + v->at);
        if (BUG(enum_zero_based) && v->role & CHOICE && v->role & OUTPUT) value[i] = v->choices - value[i];
        if (BUG(enum_read_shifted) && v->vr == 208 && u->core.mode != INITIALIZING) value[i] = 4 - value[i];
    }
    return pleased(u);
}

EXPORT fmi2Status fmi2GetBoolean(fmi2Component c, const unsigned vr[], size_t n, int value[]) {
    BEGIN_GET("fmi2GetBoolean");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = element(u, BOOLEAN, vr[i], 0);
        if (!v) {
            if (BUG(r2_unknown_ok)) continue;
            return fmi2Error;
        }
        value[i] = *(int *)(void *)((char *)u->data + v->at);
        if (BUG(boolean_minus_one) && value[i]) value[i] = -1;
    }
    return pleased(u);
}

EXPORT fmi2Status fmi2GetString(fmi2Component c, const unsigned vr[], size_t n, fmi2String value[]) {
    static char buffer[TEXT_LENGTH];
    BEGIN_GET("fmi2GetString");
    if (BUG(terminated_string_refused) && u->core.mode == TERMINATED) return fail(u, "terminated");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = element(u, STRING, vr[i], 0);
        if (!v) {
            if (BUG(r2_unknown_ok)) continue;
            return fmi2Error;
        }
        value[i] = (char *)u->data + v->at;
        if (BUG(string_buffer)) {
            snprintf(buffer, sizeof buffer, "%s", value[i]);
            value[i] = buffer;
        }
        if (BUG(string_null) && !*value[i]) value[i] = NULL;
        if (BUG(text_latin) && *unit_time(u) > LATE)
            value[i] = "20 \xb0"
                       "C";
    }
    return pleased(u);
}

#define BEGIN_SET(what) \
    Unit *u = c; \
    if (!ready(u, SETTABLE, vr, n, value, what)) return fmi2Error; \
    for (size_t i = 0; i < n && !BUG(r2_sets_all); i++) \
        if (!element(u, kind, vr[i], 1)) return fmi2Error; \
    if (u->core.mode == STEPPED) u->core.unread = 1

EXPORT fmi2Status fmi2SetReal(fmi2Component c, const unsigned vr[], size_t n, const double value[]) {
    const Kind kind = REAL;
    BEGIN_SET("fmi2SetReal");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = find(u, REAL, vr[i]);
        if (!v) return fmi2Error;
        if (isnan(value[i]) && BUG(r2_nan_crash)) abort();
        if (!isfinite(value[i]) && !BUG(r2_nan_accepted)) return fail(u, "variable %u: not a number", vr[i]);
        if (BUG(set_range_discard) && v->vr == 140 && (value[i] < 0.0 || value[i] > 1.0)) {
            say(u, fmi2Discard, "logStatusDiscard", "the valve opens from 0 to 1 only");
            return fmi2Discard;
        }
        if (BUG(set_once) && v->vr == 109 && u->core.mode == INSTANTIATED && u->core.steps++) continue;
        *real_at(u, v->at) = BUG(real_float) ? (double)(float)value[i] : value[i];
        if (BUG(set_first_real) && i == 0 && n > 1) break;
        if (BUG(set_together) && n > 2 && i == n - 1) *real_at(u, find(u, REAL, vr[0])->at) = value[i];
    }
    return pleased(u);
}

EXPORT fmi2Status fmi2SetInteger(fmi2Component c, const unsigned vr[], size_t n, const int value[]) {
    const Kind kind = INTEGER;
    BEGIN_SET("fmi2SetInteger");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = find(u, INTEGER, vr[i]);
        int wanted = value[i];
        if (!v) return fmi2Error;
        if (v->role & CHOICE && (wanted < 1 || wanted > v->choices)) {
            if (BUG(r2_enum_crash)) abort();
            if (!BUG(r2_enum_accepted)) return fail(u, "enumeration %u has no item %d", vr[i], wanted);
            wanted = 1;
        }
        if (BUG(integer_short)) wanted = (short)wanted;
        if (BUG(integer_float)) wanted = (int)(float)wanted;
        if (BUG(integer_byte_tunable) && v->role & TUNABLE) wanted = (signed char)wanted;
        if (BUG(enum_tunable_ignored) && v->role & CHOICE && u->core.mode & (EVENT | STEPPED)) continue;
        if (BUG(tunable_integer_early) && v->vr == 201 && u->core.mode & (EVENT | STEPPED)) continue;
        *(int *)(void *)((char *)u->data + v->at) = wanted;
    }
    return pleased(u);
}

EXPORT fmi2Status fmi2SetBoolean(fmi2Component c, const unsigned vr[], size_t n, const int value[]) {
    const Kind kind = BOOLEAN;
    BEGIN_SET("fmi2SetBoolean");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = find(u, BOOLEAN, vr[i]);
        if (!v) return fmi2Error;
        if (BUG(set_first_boolean) && i) break;
        *(int *)(void *)((char *)u->data + v->at) = value[i] != 0;
        if (BUG(boolean_inverted) && v->role & TUNABLE) *(int *)(void *)((char *)u->data + v->at) = !value[i];
    }
    return pleased(u);
}

EXPORT fmi2Status fmi2SetString(fmi2Component c, const unsigned vr[], size_t n, const fmi2String value[]) {
    const Kind kind = STRING;
    BEGIN_SET("fmi2SetString");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = find(u, STRING, vr[i]);
        char *place;
        if (!v || !value[i]) return fail(u, "variable %u: no string", vr[i]);
        place = (char *)u->data + v->at;
        if (strlen(value[i]) >= TEXT_LENGTH) return fail(u, "the string is too long");
        if (BUG(string_empty_refused) && !*value[i]) return fail(u, "the string is empty");
        snprintf(place, BUG(string_short) ? 16 : TEXT_LENGTH, "%s", value[i]);
        if (BUG(string_ascii))
            for (char *p = place; *p; p++)
                if (*p & 0x80) *p = '?';
        if (BUG(string_trimmed))
            for (size_t k = strlen(place); k && place[k - 1] == ' '; k--) place[k - 1] = 0;
        if (BUG(strings_together) && i) memcpy(place, (char *)u->data + find(u, STRING, vr[0])->at, TEXT_LENGTH);
    }
    return pleased(u);
}
