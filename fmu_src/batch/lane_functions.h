/* Operations of generated code in SIMD lanes (components/mechfmu/codegen/operations.py). Functions of the C library are
 * called lane by lane, so that a lane has the bits of a single instance. */
#ifndef MECHFMU_LANE_FUNCTIONS_H
#define MECHFMU_LANE_FUNCTIONS_H

#include "sine.h"

#define truth(comparison) ((Real)((Bits)(comparison) & (Bits)real(1)))
#define where(comparison, a) ((Real)((Bits)(comparison) & (Bits)(a)))

#define IN_LANES(name) \
    static inline Real lanes_##name(Real a) { \
        for (int l = 0; l < LANES; l++) a[l] = name(a[l]); \
        return a; \
    }
#define PAIRS_IN_LANES(name) \
    static inline Real lanes_##name(Real a, Real b) { \
        for (int l = 0; l < LANES; l++) a[l] = name(a[l], b[l]); \
        return a; \
    }

IN_LANES(exp)
IN_LANES(log)
IN_LANES(tan)
IN_LANES(asin)
IN_LANES(acos)
IN_LANES(atan)
IN_LANES(sinh)
IN_LANES(cosh)
IN_LANES(tanh)
IN_LANES(asinh)
IN_LANES(acosh)
IN_LANES(atanh)
IN_LANES(floor)
IN_LANES(ceil)
IN_LANES(log1p)
IN_LANES(expm1)
IN_LANES(erf)
PAIRS_IN_LANES(pow)
PAIRS_IN_LANES(fmod)
PAIRS_IN_LANES(copysign)
PAIRS_IN_LANES(hypot)

static inline Real lanes_conditional_tanh(Real a, Real factor) {
    for (int l = 0; l < LANES; l++) a[l] = factor[l] != 0 ? tanh(a[l]) : 0.0;
    return a;
}

#endif
