/* Dormand and Prince's method of order 5 with an estimate of order 4: J. R. Dormand, P. J. Prince, J. Comput. Appl.
 * Math. 6 (1980) 19-26. */
#ifndef MECHFMU_DOPRI5_H
#define MECHFMU_DOPRI5_H

enum { DP5_STAGES = 6 }; /* and one at the end of the step, for the estimate */

static const double DP5_C[DP5_STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1};

/* the last row leads to the end of the step */
static const double DP5_A[DP5_STAGES + 1][DP5_STAGES] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};

/* order 5 minus order 4 */
static const double DP5_E[DP5_STAGES + 1] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                             -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

#endif
