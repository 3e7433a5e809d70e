#include "child.h"

#include "protocol.h"
#include "pythons.h"

#include <stdlib.h>
#include <string.h>

static const double EXIT_TIMEOUT = 2; /* s, for a process to exit by itself, unless it has not answered in time */

/* The only global state: FMI has no place for data that the instances of a host share. */
static struct {
    Lock busy;
    Child *first;
} children;

int child_is_ours(const Child *self) { return self->host == process_self(); }

int child_runs(const Child *self) {
    return child_is_ours(self) && __atomic_load_n(&self->process, __ATOMIC_RELAXED) != NULL;
}

unsigned child_number(Child *self) {
    lock(&self->busy);
    const unsigned number = self->next_number++;
    unlock(&self->busy);
    return number;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

static Transfer receive(Process *process, Buffer *reply, double deadline) {
    unsigned long long size = 0;
    size_t have = 0;
    buffer_clear(reply);
    for (;;) {
        const size_t expected = have < sizeof size ? 65536 : sizeof size + (size_t)size;
        if (have >= sizeof size && have >= expected) break;
        size_t got = 0;
        if (!buffer_reserve(reply, expected)) return CLOSED;
        const Transfer state = process_receive(process, reply->data + have, expected - have, &got, deadline);
        if (state != DONE) return state;
        have += got;
        if (have >= sizeof size) memcpy(&size, reply->data, sizeof size);
    }
    reply->size = have;
    reply->at = sizeof size;
    return DONE;
}

void begin_request(Buffer *request, unsigned operation, unsigned instance) {
    buffer_clear(request);
    put_u64(request, 0);
    put_u32(request, operation);
    put_u32(request, instance);
}

/* Replaces bytes that are not UTF-8 by question marks: hosts expect UTF-8. */
static void make_utf8(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c;) {
        const int length = *c < 0x80                 ? 1
                           : *c >= 0xC2 && *c < 0xE0 ? 2
                           : *c >= 0xE0 && *c < 0xF0 ? 3
                           : *c >= 0xF0 && *c < 0xF5 ? 4
                                                     : 0;
        int good = length > 0;
        for (int i = 1; good && i < length; i++) good = (c[i] & 0xC0) == 0x80;
        if (!good) *c = '?';
        c += good ? length : 1;
    }
}

/* The process has ended, or is ended now: its exit report is kept for all its instances. */
static void record_exit(Child *self, Transfer how) {
    const double timeout = how == TIMED_OUT ? 0 : EXIT_TIMEOUT;
    process_end(self->process, timeout, self->exit_report, sizeof self->exit_report);
    make_utf8(self->exit_report);
    __atomic_store_n(&self->process, NULL, __ATOMIC_RELAXED);
    if (how == TIMED_OUT) strcpy(self->exit_report, "a call exceeded the time limit and was abandoned");
}

int child_exchange(Child *self, Buffer *request, Buffer *reply) {
    const unsigned long long size = request->size - sizeof size;
    if (request->broken) return 0;
    memcpy(request->data, &size, sizeof size);
    lock(&self->busy);
    if (self->process) {
        const double deadline = self->limit > 0 ? process_clock() + self->limit : 0;
        Transfer state = process_send(self->process, request->data, request->size, deadline);
        if (state == DONE) state = receive(self->process, reply, deadline);
        if (state != DONE) record_exit(self, state);
    }
    const int alive = self->process != NULL;
    unlock(&self->busy);
    return alive;
}

/* --- start -------------------------------------------------------------------------------------------------------- */

static void put_string(Buffer *text, const char *words) { put(text, words, strlen(words)); }

/* Why a candidate does not suit, in one line: the last line that it printed. */
static void put_reason(Buffer *text, char *exit_report) {
    char *end = strrchr(exit_report, '\n');
    if (!end) {
        put_string(text, "it ended without a message ");
        put_string(text, exit_report);
        return;
    }
    while (end > exit_report && (end[-1] == '\n' || end[-1] == '\r')) end--;
    *end = '\0';
    const char *line = strrchr(exit_report, '\n');
    put_string(text, line ? line + 1 : exit_report);
}

static void put_candidate(Buffer *text, const Python *python) {
    put_string(text, python->program);
    put_string(text, " (");
    put_string(text, origin_name(python->origin));
    put_string(text, "): ");
}

static void free_child(Child *self) {
    free(self->resources);
    free(self->guid);
    free(self);
}

static char *copy(const char *text, size_t n) {
    char *result = calloc(n + 1, 1);
    if (result) memcpy(result, text, n);
    return result;
}

/* Seconds that a process may take to start; 0: no limit, -1: the variable is not valid. */
static double start_limit(void) {
    char *text = environment("MECHFMU_CALL_TIMEOUT"), *end = text;
    const double seconds = text ? strtod(text, &end) : 0;
    const int good = !text || (end != text && *end == '\0' && seconds >= 0 && seconds < 1e9);
    free(text);
    return good ? seconds : -1;
}

/* Starts a candidate; NULL and a reason when it does not suit. */
static Child *start(const char *resources, const char *script, const Python *python, Buffer *why) {
    const char *system_error = NULL;
    Process *process =
        process_start(python->program, python->before, script, python->origin == FROM_HOST, &system_error);
    if (!process) {
        put_string(why, "cannot be started: ");
        put_string(why, system_error);
        return NULL;
    }
    Buffer hello = {0};
    size_t n = 0;
    const double seconds = start_limit();
    const Transfer state = receive(process, &hello, seconds > 0 ? process_clock() + seconds : 0);
    const int understood = state == DONE && take_u32(&hello) == HELLO;
    const double limit = take_real(&hello);
    const char *guid = take_text(&hello, &n);
    Child *self = understood && guid ? calloc(1, sizeof *self) : NULL;
    if (self)
        *self = (Child){.process = process,
                        .host = process_self(),
                        .limit = limit,
                        .guid = copy(guid, n),
                        .resources = copy(resources, strlen(resources))};
    if (!self || !self->guid || !self->resources) {
        if (self) free_child(self);
        self = NULL;
        char exit_report[EXIT_REPORT];
        process_end(process, state == TIMED_OUT ? 0 : EXIT_TIMEOUT, exit_report, sizeof exit_report);
        make_utf8(exit_report);
        if (state == TIMED_OUT)
            put_string(why, "it was not ready in the time that MECHFMU_CALL_TIMEOUT allows");
        else
            put_reason(why, exit_report);
    }
    buffer_release(&hello);
    return self;
}

static Child *start_suitable(const char *resources, Buffer *why, Buffer *warning) {
    size_t count = 0;
    if (start_limit() < 0) {
        put_string(why, "the environment variable MECHFMU_CALL_TIMEOUT must be a number of seconds, 0 for no limit");
        put(why, "", 1);
        return NULL;
    }
    Python *pythons = pythons_find(&count);
    char *script = path_join(resources, "mechfmu_start.py");
    Child *found = NULL;
    put_string(why, "there is no Python that can run this FMU. Tried: ");
    for (size_t i = 0; script && !found && i < count; i++) {
        Buffer reason = {0};
        found = start(resources, script, &pythons[i], &reason);
        if (!found) {
            Buffer *texts[] = {why, pythons[i].origin == FROM_VARIABLE ? warning : NULL};
            for (size_t k = 0; k < 2; k++) {
                if (!texts[k]) continue;
                if (k == 0 && i) put_string(texts[k], "; ");
                put_candidate(texts[k], &pythons[i]);
                put(texts[k], reason.data, reason.size);
            }
        } else if (warning->size) {
            put_string(warning, "; taken instead: ");
            put_string(warning, pythons[i].program);
        }
        buffer_release(&reason);
    }
    if (count == 0) put_string(why, "none, because none was found");
    put_string(why, ". Install Python 3 with the packages that the FMU needs, or name one that has them in the "
                    "environment variable MECHFMU_PYTHON.");
    put(why, "", 1);
    put(warning, "", 1);
    free(script);
    pythons_free(pythons, count);
    return found;
}

static void forget(Child *self) {
    if (self->process) process_forget(self->process);
    self->process = NULL;
}

/* Whether it runs and serves this FMU. A process that has ended between two calls is detected here. */
static int serves(Child *self, const char *resources) {
    if (strcmp(self->resources, resources) != 0) return 0;
    if (try_lock(&self->busy)) {
        if (self->process && !process_alive(self->process)) record_exit(self, CLOSED);
        unlock(&self->busy);
    }
    return child_runs(self);
}

Child *child_acquire(const char *resources, Buffer *why, Buffer *warning) {
    lock(&children.busy);
    for (Child *other = children.first; other; other = other->next)
        if (!child_is_ours(other)) forget(other); /* this process is a forked copy of its host */
    Child *self = children.first;
    while (self && !serves(self, resources)) self = self->next;
    if (!self && (self = start_suitable(resources, why, warning)) != NULL) {
        self->next = children.first;
        children.first = self;
    }
    if (self) self->users++;
    unlock(&children.busy);
    return self;
}

/* Removes it from the list. */
static void unlink_child(Child *self) {
    Child **place = &children.first;
    while (*place && *place != self) place = &(*place)->next;
    if (*place) *place = self->next;
}

void child_release(Child *self) {
    lock(&children.busy);
    self->users--;
    if (!self->users && (!self->process || !child_is_ours(self))) {
        unlink_child(self);
        forget(self);
        free_child(self);
    }
    unlock(&children.busy);
}

void children_end(void) {
    lock(&children.busy);
    while (children.first) {
        Child *self = children.first;
        children.first = self->next;
        if (!child_is_ours(self)) {
            forget(self);
        } else if (try_lock(&self->busy)) {
            if (self->process) process_end(self->process, EXIT_TIMEOUT, NULL, 0);
        } else {
            continue; /* another thread is in a call while the host ends: the lifeline ends the process */
        }
        free_child(self);
    }
    unlock(&children.busy);
}
