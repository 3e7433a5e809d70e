/* Sine and cosine without branches, for scalars and SIMD lanes, with less than 1.1 units in the last place of error.
 *
 * An angle up to SINE_LIMIT is reduced to y + tail = x - n pi / 2 with |y| <= pi / 4 (Cody and Waite: pi / 2 is a sum
 * of three numbers, and n times the first two is exact); sine and cosine of y are polynomials (Remez). Larger angles,
 * infinity and NaN are left to the C library. */
#ifndef MECHFMU_SINE_H
#define MECHFMU_SINE_H

#include "real.h"

static const double SINE_LIMIT = 1e5; /* so that n has 16 bits */

static const double HALF_PI[3] = {0x1.921fb5444p+0, 0x1.68c234c4cp-39, 0x1.98a2e03707345p-77}; /* 37, 37 and 53 bits */
static const double TWO_BY_PI = 0.6366197723675814;
static const double ROUNDING = 0x1.8p52; /* added to a number, it leaves the nearest integer in the last bits */

/* (sin y / y - 1) / y^2 and (cos y - 1 + y^2 / 2) / y^4 as polynomials of y^2, to 2^-58 and 2^-64 of sine and cosine */
static const double SINE[6] = {-0.16666666666666632,   0.008333333333322413,    -0.00019841269829807832,
                               2.7557313691925208e-06, -2.5050758116228944e-08, 1.5896795700994227e-10};
static const double COSINE[6] = {0.0416666666666666,      -0.0013888888888874125, 2.480158728948218e-05,
                                 -2.7557314352331775e-07, 2.0875723273084766e-09, -1.1359647795769419e-11};

typedef struct {
    Real y, tail;
    Bits quadrant; /* n, in the last two bits */
} ReducedAngle;

static inline ReducedAngle reduced_angle(Real x) {
    const Real shifted = x * TWO_BY_PI + ROUNDING;
    const Real n = shifted - ROUNDING;
    const Real a = x - n * HALF_PI[0]; /* exact */
    const Real b = n * HALF_PI[1];     /* exact */
    const Real high = a - b;           /* with the next line: a - b exactly (Knuth) */
    const Real part = high - a;
    const Real low = (a - (high - part)) - (b + part);
    const Real rest = n * HALF_PI[2] - low;
    const Real y = high - rest;
    return (ReducedAngle){y, (high - y) - rest, bits_of(shifted)}; /* high is larger (Dekker) */
}

static inline Real six_terms(const double *c, Real z, Real z2) {
    return (c[0] + c[1] * z) + z2 * ((c[2] + c[3] * z) + z2 * (c[4] + c[5] * z));
}

/* The sine of the reduced angle in a quadrant; that of the next one gives the cosine. */
static inline Real sine_of(ReducedAngle r, Bits quadrant) {
    const Real z = r.y * r.y, z2 = z * z;
    const Real sine = r.y + (r.tail + r.y * z * six_terms(SINE, z, z2));
    const Real half = 0.5 * z, main = 1.0 - half;
    const Real cosine = main + (((1.0 - main) - half) + (z2 * six_terms(COSINE, z, z2) - r.y * r.tail));
    const Bits odd = 0 - (quadrant & 1);
    return real_of(((bits_of(cosine) & odd) | (bits_of(sine) & ~odd)) ^ ((quadrant & 2) << 62));
}

/* The library's function of the angles beyond the limit, `fast` of the others. */
#ifdef LANES
static RARELY Real replace_beyond(Real x, Real fast, double (*function)(double)) {
    for (int l = 0; l < LANES; l++)
        if (!(fabs(x[l]) <= SINE_LIMIT)) fast[l] = function(x[l]);
    return fast;
}
#else
static RARELY Real replace_beyond(Real x, Real fast, double (*function)(double)) {
    (void)fast;
    return function(x);
}
#endif

static inline Real sine(Real x) {
    const ReducedAngle r = reduced_angle(x);
    const Real fast = sine_of(r, r.quadrant);
    return UNLIKELY(!all((Truth)(magnitude(x) <= SINE_LIMIT))) ? replace_beyond(x, fast, sin) : fast;
}

static inline Real cosine(Real x) {
    const ReducedAngle r = reduced_angle(x);
    const Real fast = sine_of(r, r.quadrant + 1);
    return UNLIKELY(!all((Truth)(magnitude(x) <= SINE_LIMIT))) ? replace_beyond(x, fast, cos) : fast;
}

#endif
