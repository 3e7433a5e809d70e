/* The Python processes of this host: one for each FMU, shared by its instances. */
#ifndef MECHFMU_CHILD_H
#define MECHFMU_CHILD_H

#include "buffer.h"
#include "lock.h"

enum { LAST_WORDS = 1024 }; /* more than a host shows of a message */

typedef struct Child {
    struct Child *next;
    char *resources;   /* the folder of the FMU that it serves */
    char *guid;
    long host;         /* the process that started it: a forked copy of the host must not talk to it */
    double limit;      /* s that a call may take; 0: any */
    Lock busy;         /* a call at a time */
    Process *process;  /* NULL: it has ended */
    unsigned users;    /* instances */
    unsigned next_number;
    char last_words[LAST_WORDS];
} Child;

/* The process that serves the FMU with these resources, started if there is none. NULL: none can be had, and `why` says which Pythons were tried. `warning`
 * is what the user should know though it works, or empty. */
Child *child_acquire(const char *resources, Buffer *why, Buffer *warning);
void child_release(Child *self);

/* Sends a request that begin_request has begun, waits for the reply. 0: the process has ended, self->last_words tells how. */
int child_exchange(Child *self, Buffer *request, Buffer *reply);

/* A number that no other instance or state of this process has. */
unsigned child_number(Child *self);

/* A request without its size, which child_exchange fills in. */
void begin_request(Buffer *request, unsigned operation, unsigned instance);

/* Whether this is the process that started the child, and not a forked copy; and whether the child still runs, as far as is known. */
int child_is_ours(const Child *self);
int child_runs(const Child *self);

/* Ends all; when the library is unloaded. */
void children_end(void);

#endif
