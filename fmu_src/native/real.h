/* The numbers of code that is compiled for one instance, and again for several at once, one in each SIMD lane (LANES is
 * then their number). Both do the same operations in the same order, so a lane has the bits of a single instance. */
#ifndef MECHFMU_REAL_H
#define MECHFMU_REAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined __GNUC__
#define RARELY __attribute__((noinline, cold, unused))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define RARELY
#define UNLIKELY(condition) (condition)
#endif

#ifdef LANES

typedef double Real __attribute__((vector_size(8 * LANES)));
typedef int64_t Truth
    __attribute__((vector_size(8 * LANES))); /* of a comparison, to be cast: all bits are set, or none */
typedef uint64_t Bits __attribute__((vector_size(8 * LANES)));

static inline Bits bits_of(Real a) { return (Bits)a; }
static inline Real real_of(Bits a) { return (Real)a; }
static inline Real real(double a) { return a - (Real){0}; }
static inline Real choose(Truth c, Real a, Real b) { return (Real)(((Bits)c & (Bits)a) | (~(Bits)c & (Bits)b)); }
static inline Real magnitude(Real a) { return (Real)((Bits)a & ~(Bits)real(-0.0)); }

static inline int all(Truth c) {
    int64_t common = -1;
    for (int l = 0; l < LANES; l++) common &= c[l];
    return common != 0;
}

static inline Real square_root(Real a) {
#if defined __clang__
    return __builtin_elementwise_sqrt(a);
#else
    for (int l = 0; l < LANES; l++) a[l] = sqrt(a[l]);
    return a;
#endif
}

#else

typedef double Real;
typedef int Truth;
typedef uint64_t Bits;

static inline Bits bits_of(Real a) {
    Bits bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
static inline Real real_of(Bits bits) {
    Real a;
    memcpy(&a, &bits, sizeof a);
    return a;
}
static inline Real real(double a) { return a; }
static inline Real choose(Truth c, Real a, Real b) { return c ? a : b; }
static inline Real magnitude(Real a) { return fabs(a); }
static inline int all(Truth c) { return c; }
static inline Real square_root(Real a) { return sqrt(a); }

#endif

/* The other one, if one is NaN. */
static inline Real minimum(Real a, Real b) { return choose((Truth)(a < b) | (Truth)(b != b), a, b); }
static inline Real maximum(Real a, Real b) { return choose((Truth)(a > b) | (Truth)(b != b), a, b); }

#endif
