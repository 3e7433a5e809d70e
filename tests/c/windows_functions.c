/* Prints functions of the C library at points that are given, called from a frame of many pages.
 *
 *     windows_functions A B
 */
#include "arctangent.h"
#include "sine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DOUBLES = 20000 };

static void print(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    puts(text);
}

__attribute__((noinline)) static double last_of_many(double a) {
    volatile double many[DOUBLES];
    many[DOUBLES - 1] = a; /* the far end of the array is the start of the frame */
    many[0] = a;
    return many[0] + many[DOUBLES - 1];
}

int main(int argc, char **argv) {
    const double a = argc > 1 ? atof(argv[1]) : 0, b = argc > 2 ? atof(argv[2]) : 0;
    const double values[] = {FUNCTIONS};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) print(values[i]);
    print(last_of_many(a));
    return 0;
}
