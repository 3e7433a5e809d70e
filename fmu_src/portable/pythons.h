/* Which Python: the candidates, in the order in which they are tried. */
#ifndef MECHFMU_PYTHONS_H
#define MECHFMU_PYTHONS_H

#include <stddef.h>

typedef enum { FROM_VARIABLE, FROM_HOST, FROM_ENVIRONMENT, FROM_REGISTRY, FROM_PATH } Origin;

typedef struct {
    char *program;
    const char *before; /* an argument that goes first, or NULL */
    Origin origin;
} Python;

/* The candidates, without repetitions; to be freed with pythons_free. */
Python *pythons_find(size_t *count);
void pythons_free(Python *pythons, size_t count);
const char *origin_name(Origin origin);

#endif
