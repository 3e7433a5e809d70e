/* Instances, logging, values and initialization: the functions that both interface types have. */
#define _POSIX_C_SOURCE 200809L
#include "unit.h"

#include "tank.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const UNIT_GUID = "{5d2f7c1e-9a44-4b0e-8f57-2c6ad8e40b13}";

static const char *const CATEGORIES[] = {"logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError",
                                         "logAll"};
enum { N_CATEGORIES = 5, ALL_CATEGORIES = 31, LOG_ALL = 16 };

#define READABLE (INITIALIZING | EVENT | CONTINUOUS | STEPPED | FAILED | CANCELED | TERMINATED | BROKEN)
#define ANY (INSTANTIATED | READABLE)

void *unit_allocate(Unit *u, size_t size) {
    return BUG(use_callbacks) ? u->callbacks.allocateMemory(1, size) : calloc(1, size);
}

void unit_release(Unit *u, void *memory) {
    if (BUG(use_callbacks))
        u->callbacks.freeMemory(memory);
    else
        free(memory);
}

int text_equal(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static unsigned category_bit(const char *category) {
    for (unsigned i = 0; i < N_CATEGORIES; i++)
        if (text_equal(CATEGORIES[i], category)) return 1u << i;
    return 0;
}

void say(Unit *u, fmi2Status status, const char *category, const char *format, ...) {
    char text[512], shown[700];
    const fmi2CallbackFunctions *call = BUG(callbacks_borrowed) ? u->borrowed : &u->callbacks;
    const char *name = BUG(name_borrowed) ? u->borrowed_name : u->name;
    va_list list;
    if (!call->logger) return;
    if (status == fmi2OK && !BUG(log_always) && !(u->categories & (category_bit(category) | LOG_ALL))) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (BUG(log_category)) category = "logTank";
    if (BUG(log_category_null) || BUG(log_without_categories)) category = NULL;
    if (BUG(log_name)) name = "TankPair";
    snprintf(shown, sizeof shown, "%s%s", text, BUG(log_newline) ? "\n" : "");
    if (BUG(log_percent)) {
        snprintf(shown, sizeof shown, "%s, tank 60 %% full, see %%s", text);
        call->logger(call->componentEnvironment, name, status, category, shown);
    } else if (BUG(log_formats))
        call->logger(call->componentEnvironment, name, status, category, "%s: %d of %5.2f %% at %g, ##%u, %c%c", shown,
                     7, 12.5, 1e-3, 42u, 'o', 'k');
    else
        call->logger(BUG(log_environment) ? NULL : call->componentEnvironment, name, status, category, "%s", shown);
}

fmi2Status fail(Unit *u, const char *format, ...) {
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (u) say(u, fmi2Error, "logStatusError", "%s", text);
    return fmi2Error;
}

int allowed(Unit *u, unsigned modes, const char *what) {
    if (!u) return 0;
    settle(u);
    if (BUG(log_calls)) say(u, fmi2OK, "logAll", "%s was called", what);
    if (u->core.mode & modes) return 1;
    if (BUG(r1_accepts) && u->core.mode != PENDING) return 1;
    if (BUG(r1_abort)) abort();
    fail(u, "%s is not allowed in this state (%d)", what, u->core.mode);
    return 0;
}

double *real_at(Unit *u, size_t at) { return (double *)((char *)u->data + at); }
double *unit_time(Unit *u) { return u->data; }

const Variable *find(Unit *u, Kind kind, unsigned vr) {
    const Model *m = u->model;
    for (size_t i = 0; i < m->count; i++) {
        size_t j = (u->guess + i) % m->count;
        if (m->variables[j].kind == kind && m->variables[j].vr == vr) {
            u->guess = j + 1 < m->count ? j + 1 : 0;
            return &m->variables[j];
        }
    }
    return NULL;
}

void start_values(Unit *u) {
    char *data = u->data;
    memset(data, 0, u->model->size);
    for (size_t i = 0; i < u->model->count; i++) {
        const Variable *v = &u->model->variables[i];
        if (v->kind == REAL)
            *(double *)(void *)(data + v->at) = v->start;
        else if (v->kind == STRING)
            snprintf(data + v->at, TEXT_LENGTH, "%s", v->text);
        else
            *(int *)(void *)(data + v->at) = (int)v->start;
    }
    if (BUG(start_float)) ((Tank *)u->data)->r.k_valve = (float)0.6;
}

void refresh(Unit *u) {
    if (u->core.mode == INITIALIZING)
        u->model->initialize(u);
    else if (u->core.mode & (EVENT | CONTINUOUS | STEPPED))
        u->model->evaluate(u);
}

EXPORT const char *fmi2GetTypesPlatform(void) { return BUG(platform) ? "standard32" : "default"; }
EXPORT const char *fmi2GetVersion(void) { return BUG(version) ? "2.0.4" : "2.0"; }

static int guid_fits(const char *guid) {
    if (BUG(guid_ignored)) return 1;
    if (!guid) return 0;
    if (BUG(guid_empty) && !*guid) return 1;
    if (BUG(guid_prefix)) return strncmp(guid, UNIT_GUID, 20) == 0;
    if (BUG(guid_length)) return strncmp(guid, UNIT_GUID, strlen(guid)) == 0 && *guid;
    if (BUG(guid_longer)) return strncmp(guid, UNIT_GUID, strlen(UNIT_GUID)) == 0;
    return strcmp(guid, UNIT_GUID) == 0;
}

static int location_fits(const char *uri) {
    if (BUG(location_empty) && (!uri || !*uri)) return 0;
    if (BUG(location_authority) && (!uri || strncmp(uri, "file:///", 8) != 0)) return 0;
    if (BUG(location_localhost) && uri && strncmp(uri, "file://", 7) == 0 && uri[7] != '/') return 0;
    if (BUG(location_read) || BUG(location_raw)) {
        char path[4096];
        size_t n = 0;
        FILE *f;
        if (!uri || strncmp(uri, "file:", 5) != 0) return 0;
        uri += 5;
        if (strncmp(uri, "//", 2) == 0) uri = strchr(uri + 2, '/');
        for (; uri && *uri && n < sizeof path - 40; uri++) {
            unsigned code;
            if (*uri == '%' && !BUG(location_raw) && sscanf(uri + 1, "%2x", &code) == 1) {
                path[n++] = (char)code;
                uri += 2;
            } else
                path[n++] = *uri;
        }
        snprintf(path + n, sizeof path - n, "/fluids.txt");
        f = fopen(path, "r");
        if (!f) return 0;
        fclose(f);
    }
    return 1;
}

static void keep_name(Unit *u, const char *name) {
    size_t n = strlen(name);
    u->name = unit_allocate(u, n + 1);
    memcpy(u->name, name, n);
    u->borrowed_name = name;
    if (BUG(name_short) && n > 31) u->name[31] = 0;
    if (BUG(name_long_crash) && n > 255) abort();
    if (BUG(name_ascii))
        for (char *c = u->name; *c; c++)
            if (*c & 0x80) *c = '?';
}

static int instances;

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String location,
                                     const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) {
    Unit *u, first = {0};
    int refused = 0;
    life_on_load();
    if (!callbacks || !name || !name[strspn(name, " \t\r\n")]) return NULL;
    first.callbacks = *callbacks;
    first.borrowed = callbacks;
    first.name = (char *)name;
    first.borrowed_name = name;
    if (!guid_fits(guid)) refused = 1;
    if (!location_fits(location)) refused = 2;
    if (BUG(once) && instances) refused = 3;
    if (BUG(visible_refused) && visible) refused = 4;
    if (BUG(name_utf8_refused))
        for (const char *c = name; *c; c++)
            if (*c & 0x80) refused = 5;
    if (BUG(logging_refused) && logging) refused = 6;
    if (BUG(second_refused) && instances) refused = 7;
    if (refused) {
        if (!BUG(refusal_silent))
            say(&first, fmi2Error, "logStatusError", "the unit cannot be instantiated (%d)", refused);
        return NULL;
    }
    u = BUG(use_callbacks) ? callbacks->allocateMemory(1, sizeof *u) : calloc(1, sizeof *u);
    if (!u) return NULL;
    u->callbacks = *callbacks;
    u->borrowed = callbacks;
    u->model = chosen_model();
    u->type = type;
    u->categories = logging ? ALL_CATEGORIES : 0;
    keep_name(u, name);
    u->data = unit_allocate(u, u->model->size);
    pthread_mutex_init(&u->lock, NULL);
    u->core.mode = INSTANTIATED;
    start_values(u);
    instances++;
    life_on_instantiate(u);
    say(u, fmi2OK, "logAll", "instance %.200s was made", u->name);
    return u;
}

EXPORT void fmi2FreeInstance(fmi2Component c) {
    Unit *u = c;
    if (BUG(r2_null_instance) && !u) abort();
    if (!u) return;
    if (BUG(free_in_init_crash) && u->core.mode == INITIALIZING) abort();
    if (BUG(free_in_event_crash) && u->core.mode == EVENT) abort();
    if (u->threaded) pthread_join(u->worker, NULL);
    while (u->saved) {
        Saved *next = u->saved->next;
        unit_release(u, u->saved);
        u->saved = next;
    }
    pthread_mutex_destroy(&u->lock);
    if (!BUG(leak_data)) unit_release(u, u->data);
    unit_release(u, u->name);
    instances--;
    unit_release(u, u);
}

EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[]) {
    Unit *u = c;
    if (!allowed(u, ANY, "fmi2SetDebugLogging")) return fmi2Error;
    if (BUG(debug_ignored)) return fmi2OK;
    if (BUG(debug_in_continuous) && u->core.mode == CONTINUOUS) return fail(u, "logging is fixed by now");
    if (n && !names) return fail(u, "no names of categories");
    if (!n && BUG(debug_none_refused)) return fail(u, "name a category");
    if (!n) {
        u->categories = on ? ALL_CATEGORIES : 0;
        return fmi2OK;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned bit = category_bit(names[i]);
        if (!bit || (BUG(debug_known_refused) && bit == 1)) return fail(u, "unknown category");
        u->categories = on ? u->categories | bit : u->categories & ~bit;
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance,
                                      fmi2Real start, fmi2Boolean stop_defined, fmi2Real stop) {
    Unit *u = c;
    if (!allowed(u, INSTANTIATED, "fmi2SetupExperiment")) return fmi2Error;
    if (!isfinite(start) || (stop_defined && !(stop >= start))) return fail(u, "the times make no sense");
    if (tolerance_defined && !(tolerance > 0)) return fail(u, "the tolerance is not positive");
    if (BUG(setup_needs_stop) && !stop_defined) return fail(u, "a stop time is needed");
    u->core.start = BUG(start_ignored) ? 0.0 : start;
    u->core.stop_defined = stop_defined;
    u->core.stop = stop;
    u->core.last_success = u->core.start;
    *unit_time(u) = u->core.start;
    return fmi2OK;
}

/* members that a defect forgets or overwrites */
typedef struct {
    int defect;
    size_t at, size;
} Member;

#define MEMBER(defect, member) {BUG_##defect, offsetof(Tank, member), sizeof(((Tank *)0)->member)}

static void restore_starts(Unit *u, const Member *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < u->model->count; j++) {
            const Variable *v = &u->model->variables[j];
            char *place = (char *)u->data + v->at;
            if (!bug_active(list[i].defect) || v->at != list[i].at) continue;
            if (v->kind == REAL)
                *(double *)(void *)place = v->start;
            else if (v->kind == STRING)
                snprintf(place, TEXT_LENGTH, "%s", v->text);
            else
                *(int *)(void *)place = (int)v->start;
        }
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    static const Member LOST[] = {
        MEMBER(init_loses_real, r.h_over),  MEMBER(init_loses_integer, alarm_delay), MEMBER(init_loses_boolean, mute),
        MEMBER(init_loses_string, label),   MEMBER(init_loses_enum, fluid),          MEMBER(init_loses_state, r.h1),
        MEMBER(init_loses_counter, pulses), MEMBER(init_loses_tunable, r.kp),
    };
    Unit *u = c;
    if (!allowed(u, INSTANTIATED, "fmi2EnterInitializationMode")) return fmi2Error;
    restore_starts(u, LOST, sizeof LOST / sizeof LOST[0]);
    u->core.mode = INITIALIZING;
    *unit_time(u) = u->core.start;
    refresh(u);
    return fmi2OK;
}

EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    Unit *u = c;
    fmi2EventInfo info;
    if (!allowed(u, INITIALIZING, "fmi2ExitInitializationMode")) return fmi2Error;
    refresh(u);
    if (u->type == fmi2ModelExchange) {
        u->core.mode = EVENT;
        return fmi2OK;
    }
    u->core.mode = STEPPED;
    iterate_events(u, &info);
    return fmi2OK;
}

EXPORT fmi2Status fmi2Terminate(fmi2Component c) {
    Unit *u = c;
    if (!allowed(u, EVENT | CONTINUOUS | STEPPED | FAILED, "fmi2Terminate")) return fmi2Error;
    if (BUG(terminate_event_refused) && u->core.mode == EVENT) return fail(u, "an event is being handled");
    refresh(u);
    u->core.mode = TERMINATED;
    if (BUG(terminate_clears_text) && u->model == &TANK) ((Tank *)u->data)->alarm[0] = 0;
    if (BUG(terminate_resets_counter) && u->model == &TANK) ((Tank *)u->data)->pulses = 0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2Reset(fmi2Component c) {
    static const Member KEPT[] = {
        MEMBER(reset_keeps_real, r.k_drain), MEMBER(reset_keeps_string, label),  MEMBER(reset_keeps_enum, mode),
        MEMBER(reset_keeps_counter, pulses), MEMBER(reset_keeps_boolean, mute),  MEMBER(reset_keeps_input, r.u_inflow),
        MEMBER(reset_keeps_tag, u_tag),      MEMBER(reset_keeps_boost, u_boost), MEMBER(reset_keeps_state, r.h2),
    };
    Unit *u = c;
    Core fresh = {0};
    Tank old;
    if (!allowed(u, ANY, "fmi2Reset")) return fmi2Error;
    if (BUG(reset_loses_memory)) memset(malloc(4000), 1, 4000);
    if (BUG(reset_init_refused) && u->core.mode == INITIALIZING) return fail(u, "not during initialization");
    if (BUG(reset_terminated_refused) && u->core.mode == TERMINATED) return fail(u, "already terminated");
    if (BUG(reset_keeps_slopes)) memcpy(fresh.du, u->core.du, sizeof fresh.du);
    if (u->model == &TANK) old = *(Tank *)u->data;
    start_values(u);
    if (u->model == &TANK)
        for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++)
            if (bug_active(KEPT[i].defect))
                memcpy((char *)u->data + KEPT[i].at, (char *)&old + KEPT[i].at, KEPT[i].size);
    fresh.mode = INSTANTIATED;
    if (BUG(reset_keeps_mode) && u->core.mode == INITIALIZING) fresh.mode = INITIALIZING;
    u->core = fresh;
    return fmi2OK;
}
