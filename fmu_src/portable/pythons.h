/* The Python interpreters that may run the FMU, in the order in which they are tried. */
#ifndef MECHFMU_PYTHONS_H
#define MECHFMU_PYTHONS_H

#include <stddef.h>

typedef enum { FROM_VARIABLE, FROM_HOST, FROM_ENVIRONMENT, FROM_REGISTRY, FROM_PATH } Origin;

typedef struct {
    char *program;
    const char *before; /* an option that precedes the script, or NULL */
    Origin origin;
} Python;

/* The candidates, without repetitions; free them with pythons_free. */
Python *pythons_find(size_t *count);
void pythons_free(Python *pythons, size_t count);
const char *origin_name(Origin origin);

#endif
