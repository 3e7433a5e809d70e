/* Messages under a locale that writes numbers with a comma.
 *
 *     comma LOCALE      prints number() of some values, and the FMU's message about a value out of range
 *
 * Where no such locale exists, compile everything with -Dsnprintf=comma_snprintf, which behaves as under one; LOCALE
 * is then "C". */
#include "messages.h"
#include "model.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int comma_snprintf(char *text, size_t size, const char *format, ...);

int comma_snprintf(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    if (strcmp(format, "%g") == 0 && strchr(text, '.')) *strchr(text, '.') = ',';
    return length;
}

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...) {
    (void)environment, (void)instance, (void)status, (void)category;
    puts(message);
}

int main(int argc, char **argv) {
    char text[32];
    const double values[] = {0.5, -1234.5, 1e-7, 2.5e+20, 3, NAN, INFINITY, -INFINITY}, too_large = 0.5;
    if (argc != 2 || !setlocale(LC_ALL, argv[1])) return 2;
    snprintf(text, sizeof text, "%g", 0.5);
    if (strcmp(text, "0,5") != 0) return 3; /* not a locale with a comma: the test would prove nothing */
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) puts(number(values[i]).text);

    const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};
    fmi2Component c = fmi2Instantiate("comma", fmi2CoSimulation, model.guid, NULL, &callbacks, fmi2False, fmi2False);
    fmi2ValueReference reference = 0;
    for (size_t i = 0; i < model.n_rows; i++)
        if (strcmp(model.rows[i].before, "solver.relative_tolerance") == 0) reference = model.rows[i].reference;
    if (!c || fmi2SetReal(c, &reference, 1, &too_large) != fmi2Error) return 4;
    fmi2FreeInstance(c);
    return 0;
}
