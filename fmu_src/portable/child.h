/* The Python processes of this host: one for each FMU, shared by its instances. */
#ifndef MECHFMU_CHILD_H
#define MECHFMU_CHILD_H

#include "buffer.h"
#include "lock.h"

enum { EXIT_REPORT = 1024 }; /* size of an exit report: more than a host shows of a message */

typedef struct Child {
    struct Child *next;
    char *resources; /* the folder of the FMU that it serves */
    char *guid;
    long host;        /* the process that started it: a forked copy of the host must not use it */
    double limit;     /* s, of a call; 0: none */
    Lock busy;        /* one call at a time */
    Process *process; /* NULL after its end */
    unsigned users;   /* number of instances */
    unsigned next_number;
    char exit_report[EXIT_REPORT]; /* the end of what it printed, and its exit status */
} Child;

/* The process that serves the FMU with these resources; starts one if there is none. NULL when that fails, and `why` is
 * a message with the Pythons that were tried. `warning` is a message for the user although it succeeded, or empty. */
Child *child_acquire(const char *resources, Buffer *why, Buffer *warning);
void child_release(Child *self);

/* Sends a request that begin_request has begun and waits for the reply. 0: the process has ended, see exit_report. */
int child_exchange(Child *self, Buffer *request, Buffer *reply);

/* A new number for an instance or a state of this process. */
unsigned child_number(Child *self);

/* Begins a request; child_exchange fills in its size. */
void begin_request(Buffer *request, unsigned operation, unsigned instance);

/* Whether this process has started the child, and is not a forked copy; whether the child has not ended, as far as is
 * known. */
int child_is_ours(const Child *self);
int child_runs(const Child *self);

/* Ends all processes, when the library is unloaded. */
void children_end(void);

#endif
