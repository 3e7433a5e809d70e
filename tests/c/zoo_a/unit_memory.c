/* Memory, messages and the check of the calling sequence. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "defect.h"
#include "pin.h"
#include "unit.h"

void *take(Unit *u, size_t size) {
    if (IS("c_callbacks_allocate") || IS("d2_uses_missing_allocator")) return u->call.allocate(1, size ? size : 1);
    return calloc(1, size ? size : 1);
}

void drop(Unit *u, void *memory) {
    if (!memory) return;
    if (IS("c_callbacks_allocate") || IS("d2_uses_missing_allocator"))
        u->call.release(memory);
    else
        free(memory);
}

static char *duplicate(Unit *u, Text text) {
    size_t size = strlen(text) + 1;
    if (IS("d4_string_truncated") && size > 32) size = 32;
    char *copy = take(u, size);
    if (copy) {
        memcpy(copy, text, size - 1);
        copy[size - 1] = '\0';
        if (IS("d4_string_ascii"))
            for (char *c = copy; *c; c++)
                if ((unsigned char)*c > 126) *c = '?';
    }
    return copy;
}

void set_text(Unit *u, int vr, Text value) {
    if (IS("d4_string_pointer_kept") && vr == NOTE) { /* leaks the old one as well, once per set */
        u->m.s[vr] = (char *)value;
        return;
    }
    char *copy = duplicate(u, value);
    if (!copy) return;
    drop(u, u->m.s[vr]);
    u->m.s[vr] = copy;
}

void release_memory(Unit *u, Memory *m) {
    for (int k = 0; k < STRINGS; k++) {
        if (!(IS("d4_string_pointer_kept") && k == NOTE)) drop(u, m->s[k]);
        m->s[k] = NULL;
    }
}

/* What the FMU state forgets, by defect: `to` keeps its own value. */
static void forget(Plain *to, const Plain *own) {
    if (IS("d6_forgets_integers")) to->i[GUESTS] = own->i[GUESTS];
    if (IS("d6_forgets_enumeration")) to->i[PROFILE] = own->i[PROFILE];
    if (IS("d6_forgets_boolean")) to->b[ENABLED] = own->b[ENABLED];
    if (IS("d6_forgets_relay")) to->b[RELAY] = own->b[RELAY];
    if (IS("d6_forgets_counter")) to->i[SWITCHES] = own->i[SWITCHES];
    if (IS("d6_forgets_tunable")) to->r[T_COMFORT] = own->r[T_COMFORT];
    if (IS("d6_forgets_fixed_parameter")) to->r[P_MAX] = own->r[P_MAX];
    if (IS("d6_forgets_input")) to->r[T_AMB] = own->r[T_AMB];
    if (IS("d6_forgets_discrete_input")) to->i[PERSONS] = own->i[PERSONS];
    if (IS("d6_forgets_day")) to->i[DAY_NUMBER] = own->i[DAY_NUMBER];
    if (IS("d6_forgets_time")) to->r[TIME] = own->r[TIME];
    if (IS("d6_forgets_phase")) to->phase = own->phase;
    if (IS("d6_forgets_service")) to->serviced = own->serviced;
    if (IS("d6_forgets_slopes")) memcpy(to->slope, own->slope, sizeof to->slope);
    if (IS("d6_forgets_random")) to->random = own->random;
    if (IS("d6_forgets_energy")) to->r[X_ENERGY] = own->r[X_ENERGY];
    if (IS("d6_rounds_states")) to->r[X_ROOM] = (float)to->r[X_ROOM];
}

void copy_memory(Unit *u, Memory *to, const Memory *from) {
    Plain own = to->p;
    to->p = from->p;
    if (to == &u->m) forget(&to->p, &own);
    for (int k = 0; k < STRINGS; k++) {
        if (to == &u->m && IS("d6_forgets_string") && k == NOTE) continue;
        if (to == &u->m && IS("d6_forgets_string_input") && k == REMARK) continue;
        if (IS("d4_string_pointer_kept") && k == NOTE) {
            to->s[k] = from->s[k];
            continue;
        }
        char *copy = duplicate(u, from->s[k]);
        drop(u, to->s[k]);
        to->s[k] = copy;
    }
}

void say(Unit *u, Status status, int category, Text format, ...) {
    const Callbacks *call = IS("callbacks_kept") ? u->borrowed : &u->call;
    if (!call->logger) return;
    int debug = category == LOG_EVENTS;
    if (debug && !(u->categories & 1U << category) && !IS("d2_logs_when_off") && !IS("d2_categories_ignored")) return;
    if (debug && IS("d2_categories_ignored") && !u->categories) return;
    if (status == FAILED && IS("d2_error_without_message")) return;
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text - 8, format, list);
    va_end(list);
    Text tag = CATEGORY[category];
    if (IS("c_category_null")) tag = NULL;
    if (IS("d2_category_undeclared") && debug) tag = "Events";
    if (IS("d2_category_null") && debug) tag = NULL;
    Text name = u->name;
    if (IS("d2_name_of_model")) name = "Thermostat";
    void *environment = IS("d2_environment_lost") ? NULL : call->environment;
    if (IS("d2_trailing_newline")) strcat(text, "\n");
    if (IS("d2_format_in_message") && debug) {
        call->logger(environment, name, status, tag, "heater at 100% since the last event: %");
        return;
    }
    if (IS("c_printf_formats"))
        call->logger(environment, name, status, tag, "%s [%5.2f%%, %d of %lu]", text, 99.5, 3, 4UL);
    else if (strchr(text, '%') || strchr(text, '#'))
        call->logger(environment, name, status, tag, "%s", text);
    else
        call->logger(environment, name, status, tag, text);
}

Status refuse(Unit *u, Text why) {
    if (u) say(u, FAILED, LOG_ERROR, "%s", why);
    return FAILED;
}

int legal(Unit *u, int phases, Text what) {
    if (!u) {
        if (IS("r2_null_instance")) return *(volatile int *)u;
        return 0;
    }
    if (u->working) collected(u);
    if (IS("c_log_every_call") && u->categories) say(u, OK, LOG_EVENTS, "%s", what);
    Phase phase = u->working && !u->worker_done ? IN_PROGRESS : u->m.p.phase;
    if (phase & (Phase)phases) return 1;
    if (IS("r1_no_checks")) return 1;
    if (IS("r1_aborts")) abort();
    say(u, FAILED, LOG_ERROR, "%s is not allowed in this state", what);
    return 0;
}

static void *sleeper(void *unused) {
    (void)unused;
    for (;;) pause();
    return NULL;
}

/* What a step leaves behind, by defect. */
void waste_resources(Unit *u) {
    Plain *p = &u->m.p;
    p->steps++;
    if (IS("d13_memory_per_step")) {
        char *block = malloc(1 << 18);
        if (block) memset(block, p->steps, 1 << 18);
        u->waste = block;
    }
    if (IS("d13_history_grows")) {
        size_t size = (size_t)p->steps * 65536;
        char *all = realloc(u->waste, size);
        if (all) memset(all + size - 65536, 1, 65536), u->waste = all;
    }
    if (IS("d13_descriptor_per_step")) (void)!open("/dev/null", O_RDONLY);
    if (IS("d13_pipe_left") && p->steps % 20 == 0) {
        int ends[2];
        (void)!pipe(ends);
    }
    if (IS("d13_thread_left") && p->steps % 25 == 0) {
        pthread_t id;
        if (!pthread_create(&id, NULL, sleeper, NULL)) pthread_detach(id);
    }
    if (IS("d13_child_left") && p->steps == 100) {
        pid_t id = fork();
        if (id == 0) {
            for (int k = 0; k < 120; k++) sleep(1);
            _exit(0);
        }
    }
    if (IS("d13_zombie_left") && p->steps % 50 == 0) {
        if (fork() == 0) _exit(0);
    }
    if (IS("d13_file_left") || IS("d13_log_in_folder")) {
        const char *place = getenv("TMPDIR");
        char path[4096];
        snprintf(path, sizeof path, "%s/thermostat_result.csv", place ? place : "/tmp");
        FILE *f = fopen(IS("d13_file_left") ? path : "thermostat.log", "a");
        if (f) fprintf(f, "%g\n", p->r[TIME]), fclose(f);
    }
    if (IS("d13_changes_folder") && p->steps == 150) (void)!chdir("/");
}
