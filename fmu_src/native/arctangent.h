/* The angle of a point (x, y), as atan2 of the C library, without branches, for scalars and SIMD lanes, with less than
 * 2.5 units in the last place of error.
 *
 * With the smaller coordinate a and the larger one b, atan(a / b) is a polynomial of a / b up to tan(pi / 8), and
 * beyond it pi / 4 and that of (a - b) / (a + b). */
#ifndef MECHFMU_ARCTANGENT_H
#define MECHFMU_ARCTANGENT_H

#include "real.h"

static const double TAN_EIGHTH_PI = 0.41421356237309503;
static const double QUARTER_PI[2] = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}; /* high and low part */

/* (atan q / q - 1) / q^2 as a polynomial of q^2 (Remez), to 2^-59 of atan q */
static const double ARCTANGENT[11] = {-0.333333333333332,   0.19999999999954,     -0.14285714280239645,
                                      0.11111110785675281,  -0.09090897822649448, 0.07692061383573556,
                                      -0.06663117417400348, 0.05847986761156982,  -0.05039743284096868,
                                      0.0380756663573098,   -0.017919312920799086};

static inline Real angle_of(Real y, Real x) {
    const Real width = magnitude(x), height = magnitude(y);
    const Truth steep = (Truth)(height > width);
    const Real a = choose(steep, width, height), b = choose(steep, height, width);
    const Truth large = (Truth)(a > b * TAN_EIGHTH_PI) | ((Truth)(a == b) & (Truth)(b != 0.0)); /* also infinities */
    const Real difference = choose((Truth)(a == b), real(0), a - b);
    const Real sum = choose(large, a + b, b);
    const Real q = choose(large, difference, a) / choose((Truth)(sum == 0.0), real(1), sum);
    const Real z = q * q, z2 = z * z, z4 = z2 * z2;
    const double *c = ARCTANGENT;
    const Real low = (c[0] + c[1] * z) + z2 * (c[2] + c[3] * z), middle = (c[4] + c[5] * z) + z2 * (c[6] + c[7] * z);
    const Real t = q + q * z * (low + z4 * (middle + z4 * ((c[8] + c[9] * z) + z2 * c[10])));
    const Real left = real_of(bits_of(real(0.5)) | (bits_of(x) & bits_of(real(-0.0)))); /* -1/2: x is negative */
    const Real steepness = choose(steep, real(-1), real(1));
    /* the angle is that of whole quarters of pi, and t with its sign */
    const Real quarters = (2.0 - 4.0 * left) + 2.0 * left * ((1.0 - steepness) + choose(large, steepness, real(0)));
    const Real angle = quarters * QUARTER_PI[0] + (2.0 * left * steepness * t + quarters * QUARTER_PI[1]);
    return real_of(bits_of(angle) | (bits_of(y) & bits_of(real(-0.0))));
}

#endif
