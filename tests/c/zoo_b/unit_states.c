/* Saved states, their bytes, and directional derivatives. */
#define _POSIX_C_SOURCE 200809L
#include "tank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANY (INSTANTIATED | INITIALIZING | EVENT | CONTINUOUS | STEPPED | FAILED | CANCELED | TERMINATED | BROKEN)
#define MAGIC 0x54504233u

typedef struct {
    unsigned magic;
    unsigned sum;
    size_t size;
} Head;

static int supported(Unit *u, const char *what) {
    if (!allowed(u, ANY, what)) return 0;
    if (!BUG(flags_false)) return 1;
    fail(u, "%s is not supported", what);
    return 0;
}

static Saved *known(Unit *u, const void *state) {
    for (Saved *s = u->saved; s; s = s->next)
        if (s == state) return s;
    if (BUG(r4_unchecked)) return (Saved *)state;
    return NULL;
}

static Saved *new_state(Unit *u) {
    Saved *s = unit_allocate(u, sizeof *s + u->model->size);
    if (!s) return NULL;
    s->next = u->saved;
    u->saved = s;
    return s;
}

EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    static Saved *only;
    Unit *u = c;
    Saved *s;
    if (!supported(u, "fmi2GetFMUstate")) return fmi2Error;
    if (!state) return fail(u, "no place for the state");
    if (BUG(state_early_refused) && u->core.mode == INSTANTIATED) return fail(u, "not initialized yet");
    if (BUG(state_event_refused) && u->core.mode == EVENT) return fail(u, "not at an event");
    s = known(u, *state);
    if (*state && !s) return fail(u, "this is no state of the unit");
    if (BUG(state_only_one)) {
        if (only && known(u, only))
            s = only;
        else
            only = NULL;
    }
    if (!s || BUG(leak_state_reuse)) s = new_state(u);
    if (!s) return fail(u, "no memory");
    if (BUG(state_only_one)) only = s;
    s->core = u->core;
    memcpy(s->data, u->data, u->model->size);
    *state = s;
    return fmi2OK;
}

/* members that a defect does not save */
typedef struct {
    int defect;
    size_t at, size;
} Member;

#define MEMBER(defect, member) {BUG_##defect, offsetof(Tank, member), sizeof(((Tank *)0)->member)}

static const Member FORGOTTEN[] = {
    MEMBER(state_without_integral, r.integral),
    MEMBER(state_without_operator, operator_name),
    MEMBER(state_without_mode, mode),
    MEMBER(state_without_pulses, pulses),
    MEMBER(state_without_kp, r.kp),
    MEMBER(state_without_mute, mute),
    MEMBER(state_without_sample, next_sample),
    MEMBER(state_without_boost, u_boost),
    MEMBER(state_without_tag, u_tag),
    MEMBER(state_without_input, r.u_inflow),
    MEMBER(state_without_flags, low),
    MEMBER(state_without_delay, low_samples),
    MEMBER(state_without_leak, leaking),
    MEMBER(state_without_time, r.time),
    MEMBER(state_without_alarm, alarm),
    MEMBER(state_without_samples, samples),
};

EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    Unit *u = c;
    Saved *s;
    Tank old;
    if (!supported(u, "fmi2SetFMUstate")) return fmi2Error;
    if (BUG(r4_null_crash) && !state) __builtin_trap();
    s = known(u, state);
    if (!s) return fail(u, "this is no state of the unit");
    if (BUG(state_terminated_refused) && u->core.mode == TERMINATED) return fail(u, "terminated");
    if (u->model == &TANK) old = *(Tank *)u->data;
    if (BUG(state_without_slopes)) memcpy(s->core.du, u->core.du, sizeof s->core.du);
    if (BUG(state_without_phase)) s->core.mode = u->core.mode;
    u->core = s->core;
    memcpy(u->data, s->data, u->model->size);
    if (u->model == &TANK)
        for (size_t i = 0; i < sizeof FORGOTTEN / sizeof FORGOTTEN[0]; i++)
            if (bug_active(FORGOTTEN[i].defect))
                memcpy((char *)u->data + FORGOTTEN[i].at, (char *)&old + FORGOTTEN[i].at, FORGOTTEN[i].size);
    if (BUG(state_used_once)) memset(s->data, 0, u->model->size / 3);
    return fmi2OK;
}

EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    Unit *u = c;
    if (!supported(u, "fmi2FreeFMUstate")) return fmi2Error;
    if (!state || !*state) return BUG(free_null_refused) ? fail(u, "no state") : fmi2OK;
    if (!known(u, *state)) return fail(u, "this is no state of the unit");
    for (Saved **p = &u->saved; *p; p = &(*p)->next)
        if (*p == *state) {
            Saved *gone = *p;
            *p = gone->next;
            if (!BUG(leak_states)) unit_release(u, gone);
            break;
        }
    if (!BUG(free_keeps_pointer)) *state = NULL;
    return fmi2OK;
}

static unsigned check_sum(const unsigned char *bytes, size_t n) {
    unsigned sum = 2166136261u;
    for (size_t i = 0; i < n; i++) sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

static size_t body_size(Unit *u) {
    size_t all = sizeof(Core) + u->model->size;
    return BUG(bytes_short) ? all - (sizeof(Tank) - offsetof(Tank, low)) : all;
}

EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    Unit *u = c;
    if (!supported(u, "fmi2SerializedFMUstateSize")) return fmi2Error;
    if (!size || !known(u, state)) return fail(u, "this is no state of the unit");
    *size = sizeof(Head) + body_size(u);
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    Unit *u = c;
    Saved *s;
    Head head = {MAGIC, 0, 0};
    if (!supported(u, "fmi2SerializeFMUstate")) return fmi2Error;
    s = known(u, state);
    head.size = body_size(u);
    if (!s || !bytes || size < sizeof head + head.size) return fail(u, "the state cannot be written");
    memcpy(bytes + sizeof head, &s->core, sizeof(Core));
    memcpy(bytes + sizeof head + sizeof(Core), s->data, head.size - sizeof(Core));
    if (BUG(bytes_pointer)) memcpy(bytes + sizeof head, &u, sizeof u);
    head.sum = check_sum((unsigned char *)bytes + sizeof head, head.size);
    memcpy(bytes, &head, sizeof head);
    return fmi2OK;
}

EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    Unit *u = c;
    Unit *writer;
    Saved *s;
    Head head;
    if (!supported(u, "fmi2DeSerializeFMUstate")) return fmi2Error;
    if (!bytes || !state || size < sizeof head) return fail(u, "these are no bytes of a state");
    memcpy(&head, bytes, sizeof head);
    if (BUG(r4_bytes_crash) && (head.magic != MAGIC || head.size != size - sizeof head)) __builtin_trap();
    if (!BUG(r4_bytes_accepted) &&
        (head.magic != MAGIC || head.size != body_size(u) || size < sizeof head + head.size ||
         head.sum != check_sum((const unsigned char *)bytes + sizeof head, head.size)))
        return fail(u, "these are no bytes of a state");
    memcpy(&writer, bytes + sizeof head, sizeof writer);
    if (BUG(bytes_pointer) && writer != u) return fail(u, "the bytes are of another instance");
    s = known(u, *state);
    if (!*state || !s) s = new_state(u);
    if (!s) return fail(u, "no memory");
    size = size - sizeof head < head.size ? size - sizeof head : head.size;
    if (size > sizeof(Core) + u->model->size) size = sizeof(Core) + u->model->size;
    s->core = u->core;
    memcpy(&s->core, bytes + sizeof head, size < sizeof(Core) ? size : sizeof(Core));
    if (BUG(bytes_pointer)) s->core.mode = u->core.mode;
    if (BUG(bytes_pointer)) s->core.stop_defined = u->core.stop_defined;
    if (BUG(bytes_short)) memcpy(s->data, u->data, u->model->size);
    if (size > sizeof(Core)) memcpy(s->data, bytes + sizeof head + sizeof(Core), size - sizeof(Core));
    *state = s;
    return fmi2OK;
}

static int by_differences(Unit *u, const unsigned *unknown, size_t nu, const unsigned *knowns, size_t nk,
                          const double *seed, double *result) {
    const double h = 1e-6;
    Tank *keep = malloc(u->model->size);
    if (!keep) return 0;
    memcpy(keep, u->data, u->model->size);
    for (int side = 1; side >= -1; side -= 2) {
        memcpy(u->data, keep, u->model->size);
        for (size_t i = 0; i < nk; i++) *real_at(u, find(u, REAL, knowns[i])->at) += side * h * seed[i];
        refresh(u);
        for (size_t i = 0; i < nu; i++) {
            double y = *real_at(u, find(u, REAL, unknown[i])->at);
            result[i] = side > 0 ? y : (result[i] - y) / (2.0 * h);
        }
    }
    memcpy(u->data, keep, u->model->size);
    free(keep);
    return 1;
}

EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const unsigned unknown[], size_t nu,
                                               const unsigned knowns[], size_t nk, const double seed[],
                                               double result[]) {
    Unit *u = c;
    int done;
    if (!allowed(u, INITIALIZING | EVENT | CONTINUOUS | STEPPED | FAILED | CANCELED | TERMINATED | BROKEN,
                 "fmi2GetDirectionalDerivative"))
        return fmi2Error;
    if (!u->model->differentiate || BUG(flags_false)) return fail(u, "directional derivatives are not supported");
    if (BUG(dd_initial_refused) && u->core.mode == INITIALIZING) return fail(u, "not initialized yet");
    if (BUG(dd_one_known) && nk > 1) return fail(u, "one known at a time");
    if ((nu && (!unknown || !result)) || (nk && (!knowns || !seed))) return fail(u, "derivatives without arrays");
    for (size_t i = 0; i < nu; i++)
        if (!find(u, REAL, unknown[i])) return fail(u, "there is no Real variable %u", unknown[i]);
    for (size_t i = 0; i < nk; i++)
        if (!find(u, REAL, knowns[i])) return fail(u, "there is no Real variable %u", knowns[i]);
    refresh(u);
    done = BUG(dd_differences) ? by_differences(u, unknown, nu, knowns, nk, seed, result)
                               : u->model->differentiate(u, unknown, nu, knowns, nk, seed, result);
    return done ? fmi2OK : fail(u, "no memory");
}
