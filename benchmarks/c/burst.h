/* CPU time of the calling thread in seconds: what else runs on the machine does not count. */
#ifndef BURST_H
#define BURST_H

#include <stddef.h>
#include <time.h>

static inline double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
