/* A lock that survives fork(): it holds the number of the process that owns it, so a forked copy that is locked by
 * another process counts as free. */
#ifndef MECHFMU_LOCK_H
#define MECHFMU_LOCK_H

#include "process.h"

typedef long Lock; /* 0: free */

static inline void lock(Lock *it) {
    const long self = process_self();
    for (unsigned count = 0;; count++) {
        long owner = 0;
        if (__atomic_compare_exchange_n(it, &owner, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
        if (owner != self && __atomic_compare_exchange_n(it, &owner, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        process_pause(count);
    }
}

/* Takes the lock if it is free; 0 when it is not. */
static inline int try_lock(Lock *it) {
    long owner = 0;
    return __atomic_compare_exchange_n(it, &owner, process_self(), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void unlock(Lock *it) { __atomic_store_n(it, 0, __ATOMIC_RELEASE); }

#endif
