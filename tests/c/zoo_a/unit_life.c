/* Instantiation, initialization, the end, and what does not belong to an instance. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "defect.h"
#include "pin.h"
#include "unit.h"

static const char GUID[] = "{5d2f6c1e-7b0a-4c52-9a55-3e8f1b7a90c4}";
static int alive;

__attribute__((destructor)) static void unload(void) {
    if (IS("d1_abort_at_exit")) abort();
    if (IS("d1_hang_at_exit"))
        for (;;) pause();
}

Text fmi2GetTypesPlatform(void) { return IS("d1_types_platform") ? "standard32" : "default"; }

Text fmi2GetVersion(void) {
    if (IS("d1_version_of_fmi_1")) return "1.0";
    return IS("d1_version_with_patch") ? "2.0.4" : "2.0";
}

static int guid_accepted(Text guid) {
    if (!guid) return 0;
    if (IS("d2_guid_not_checked")) return 1;
    if (IS("d2_guid_empty") && !*guid) return 1;
    if (IS("d2_guid_prefix")) return !strncmp(guid, GUID, 20);
    if (IS("d2_guid_case")) return !strcasecmp(guid, GUID);
    if (IS("d2_guid_braces")) return !strcmp(guid, GUID) || !strncmp(guid, GUID + 1, sizeof GUID - 3);
    if (IS("d2_guid_longer")) return !strncmp(guid, GUID, sizeof GUID - 1);
    return !strcmp(guid, GUID);
}

static int name_accepted(Text name) {
    size_t visible = 0;
    for (Text c = name; c && *c; c++) {
        visible += !isspace((unsigned char)*c);
        if (IS("d2_name_ascii_only") && (unsigned char)*c > 126) return 0;
    }
    if (IS("d2_name_too_long") && strlen(name) > 100) return 0;
    return visible > 0;
}

static int location_accepted(Text uri) {
    if (IS("d2_location_needs_authority") && uri && strncmp(uri, "file://", 7)) return !*uri;
    if (IS("d2_location_no_authority") && uri && !strncmp(uri, "file:///", 8)) return 0;
    if (IS("d2_location_percent") && uri && strchr(uri, '%')) return 0;
    if (IS("d2_location_empty_refused") && (!uri || !*uri)) return 0;
    if (IS("d2_location_empty_crash") && (!uri || !*uri)) abort();
    return 1;
}

static void *reject(const Callbacks *call, Text name, Text why) {
    if (call && call->logger && !IS("d2_null_without_message"))
        call->logger(IS("d2_environment_lost") ? NULL : call->environment, name ? name : "", FAILED,
                     IS("c_category_null") ? NULL : CATEGORY[LOG_ERROR], why);
    return NULL;
}

static void *idle(void *unused) {
    (void)unused;
    for (;;) pause();
    return NULL;
}

static void waste_per_instance(void) {
    if (IS("d16_instance_leaks")) {
        char *block = malloc(20000);
        if (block) memset(block, 1, 20000);
    }
    if (IS("d16_descriptor_leaks")) (void)!open("/dev/null", O_RDONLY);
    if (IS("d16_thread_leaks")) {
        pthread_t id;
        if (!pthread_create(&id, NULL, idle, NULL)) pthread_detach(id);
    }
    if (IS("d16_zombie_leaks") && fork() == 0) _exit(0);
    if (IS("c_address_space")) {
        static void *reserved;
        if (!reserved)
            reserved = mmap(NULL, (size_t)16 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
}

void *fmi2Instantiate(Text name, Kind kind, Text guid, Text resources, const Callbacks *callbacks, int visible,
                      int logging) {
    if (!callbacks) return NULL;
    if (!name_accepted(name)) return reject(callbacks, name, "the instance needs another name");
    if (!guid_accepted(guid)) return reject(callbacks, name, "wrong GUID");
    if (!location_accepted(resources)) return reject(callbacks, name, "cannot use the location of the resources");
    if (kind != MODEL_EXCHANGE && kind != CO_SIMULATION) return reject(callbacks, name, "unknown type");
    if ((IS("c_once_per_process") || IS("d7_only_one_instance")) && alive)
        return reject(callbacks, name, "one instance per process");
    if (IS("d2_own_guid_refused_in_me") && kind == MODEL_EXCHANGE) return reject(callbacks, name, "no license");
    if (IS("d2_visible_waits") && visible)
        for (;;) pause();
    if (IS("c_slow_start")) nanosleep(&(struct timespec){5, 0}, NULL);
    Unit local = {.call = *callbacks}, *u = take(&local, sizeof *u);
    if (!u) return reject(callbacks, name, "no memory");
    u->call = *callbacks;
    u->borrowed = callbacks;
    u->kind = kind;
    u->categories = logging ? (1U << CATEGORIES) - 1 : 0;
    size_t length = strlen(name);
    u->name = take(u, length + 1);
    if (u->name) memcpy(u->name, name, length + 1);
    if (IS("d2_name_not_copied")) {
        drop(u, u->name);
        u->name = (char *)name;
    }
    if (IS("d2_name_truncated") && length > 31) u->name[31] = '\0';
    start_values(u);
    alive++;
    waste_per_instance();
    say(u, OK, LOG_EVENTS, "instantiated");
    return u;
}

void fmi2FreeInstance(void *c) {
    Unit *u = c;
    if (!u) {
        if (IS("r2_free_null")) abort();
        return;
    }
    Phase phase = u->m.p.phase;
    if (IS("d3_free_instantiated_crashes") && phase == INSTANTIATED) abort();
    if (IS("d3_free_initializing_crashes") && phase == INITIALIZING) abort();
    if (IS("d3_free_without_terminate_crashes") && phase & (EVENT | CONTINUOUS | COMPLETE)) abort();
    u->cancel = 1;
    if (u->working) pthread_join(u->worker, NULL);
    while (u->saved) {
        Saved *next = u->saved->next;
        release_memory(u, &u->saved->m);
        drop(u, u->saved);
        u->saved = next;
    }
    release_memory(u, &u->m);
    if (!IS("d2_name_not_copied")) drop(u, u->name);
    if (IS("d13_history_grows")) free(u->waste);
    alive--;
    drop(u, u);
}

Status fmi2SetDebugLogging(void *c, int on, size_t n, const Text categories[]) {
    Unit *u = c;
    int phases = ANY | IN_PROGRESS;
    if (IS("d3_no_logging_later")) phases &= ~(EVENT | CONTINUOUS | COMPLETE | DONE);
    if (!legal(u, phases, "fmi2SetDebugLogging")) return FAILED;
    if (n && !categories) return refuse(u, "a null array");
    unsigned set = 0;
    if (!n) set = (1U << CATEGORIES) - 1;
    for (size_t k = 0; k < n; k++) {
        int found = -1;
        for (int j = 0; j < CATEGORIES; j++)
            if (categories[k] && !strcmp(categories[k], CATEGORY[j])) found = j;
        if (found < 0) return refuse(u, "unknown category");
        if (IS("d2_category_refused") && found == LOG_DISCARD) return refuse(u, "unknown category");
        set |= 1U << found;
    }
    if (on)
        u->categories = n ? set : (1U << CATEGORIES) - 1;
    else if (!IS("d2_logging_stays_on"))
        u->categories &= n ? ~set : 0;
    return OK;
}

Status fmi2SetupExperiment(void *c, int tolerance_defined, double tolerance, double start, int stop_defined,
                           double stop) {
    Unit *u = c;
    if (!legal(u, INSTANTIATED, "fmi2SetupExperiment")) return FAILED;
    if (!isfinite(start) || (stop_defined && !(stop >= start)) || (tolerance_defined && !(tolerance > 0)))
        return refuse(u, "not an experiment");
    Plain *p = &u->m.p;
    p->r[TIME] = p->last_good = p->last_point = IS("d5_start_time_ignored") ? 0 : start;
    if (!(IS("d7_stop_time_kept") && p->stop_defined == 2 && !stop_defined)) {
        p->stop_defined = stop_defined != 0;
        p->stop = stop_defined ? stop : 0;
    }
    p->set_up = 1;
    return OK;
}

Status fmi2EnterInitializationMode(void *c) {
    Unit *u = c;
    if (!legal(u, INSTANTIATED, "fmi2EnterInitializationMode")) return FAILED;
    Plain *p = &u->m.p;
    if (!p->set_up) return refuse(u, "fmi2SetupExperiment was not called");
    if (IS("d4_integers_lost")) p->i[STAGES] = 2, p->i[GUESTS] = 0;
    if (IS("d4_strings_lost")) set_text(u, NAME, "room-1");
    if (IS("d4_enumeration_lost")) p->i[CURVE] = 1;
    if (IS("d4_state_start_lost")) p->r[X_ROOM] = 18;
    if (IS("d4_booleans_lost")) p->b[HAS_ALARM] = 1;
    p->phase = INITIALIZING;
    evaluate(u);
    return OK;
}

Status fmi2ExitInitializationMode(void *c) {
    Unit *u = c;
    if (!legal(u, INITIALIZING, "fmi2ExitInitializationMode")) return FAILED;
    evaluate(u);
    Plain *p = &u->m.p;
    p->phase = u->kind == MODEL_EXCHANGE ? EVENT : COMPLETE;
    p->set_since_step = 0;
    evaluate(u);
    say(u, OK, LOG_EVENTS, "initialized");
    return OK;
}

Status fmi2Terminate(void *c) {
    Unit *u = c;
    int phases = EVENT | CONTINUOUS | COMPLETE | STEP_FAILED;
    if (IS("d3_no_terminate_in_event_mode")) phases &= ~EVENT;
    if (!legal(u, phases, "fmi2Terminate")) return FAILED;
    evaluate(u);
    u->m.p.phase = DONE;
    if (IS("d3_parameters_gone_after_terminate")) start_values(u), u->m.p.phase = DONE;
    return OK;
}

Status fmi2Reset(void *c) {
    Unit *u = c;
    int phases = ANY;
    if (IS("d3_no_reset_initializing")) phases &= ~INITIALIZING;
    if (IS("d3_no_reset_instantiated")) phases &= ~INSTANTIATED;
    if (IS("d3_no_reset_continuous")) phases &= ~CONTINUOUS;
    if (!legal(u, phases, "fmi2Reset")) return FAILED;
    Plain old = u->m.p, *p = &u->m.p;
    char *note = take(u, strlen(u->m.s[NOTE]) + 1), *remark = take(u, strlen(u->m.s[REMARK]) + 1);
    if (!note || !remark) return refuse(u, "no memory");
    strcpy(note, u->m.s[NOTE]);
    strcpy(remark, u->m.s[REMARK]);
    start_values(u);
    if (IS("d7_tunable_kept")) p->r[T_NIGHT] = old.r[T_NIGHT];
    if (IS("d7_fixed_kept")) p->r[P_MAX] = old.r[P_MAX];
    if (IS("d7_input_kept")) p->r[T_AMB] = old.r[T_AMB];
    if (IS("d7_discrete_input_kept")) p->b[WINDOW] = old.b[WINDOW];
    if (IS("d7_state_kept")) p->r[X_HEATER] = old.r[X_HEATER];
    if (IS("d7_integer_kept")) p->i[GUESTS] = old.i[GUESTS];
    if (IS("d7_enumeration_kept")) p->i[PROFILE] = old.i[PROFILE];
    if (IS("d7_boolean_kept")) p->b[ENABLED] = old.b[ENABLED];
    if (IS("d7_counter_kept")) p->steps = old.i[SWITCHES];
    if (IS("d7_stop_time_kept")) p->stop_defined = 2 * old.stop_defined, p->stop = old.stop;
    if (IS("d7_slopes_kept")) memcpy(p->slope, old.slope, sizeof p->slope);
    if (IS("d7_half_after_initialization") && old.phase == INITIALIZING) p->r[G_LOSS] = old.r[G_LOSS];
    if (IS("d7_half_after_event_mode") && old.phase == EVENT) p->r[X_ROOM] = old.r[X_ROOM];
    if (IS("d7_string_kept")) set_text(u, NOTE, note);
    if (IS("d7_string_input_kept")) set_text(u, REMARK, remark);
    if (IS("d7_phase_kept")) p->phase = old.phase == DONE ? DONE : INSTANTIATED;
    drop(u, note);
    drop(u, remark);
    return OK;
}
