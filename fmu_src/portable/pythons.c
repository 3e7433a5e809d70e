#include "pythons.h"

#include "process.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PYTHONS = 64 };

const char *origin_name(Origin origin) {
    switch (origin) {
    case FROM_VARIABLE: return "MECHFMU_PYTHON";
    case FROM_HOST: return "the host's";
    case FROM_ENVIRONMENT: return "of the active environment";
    case FROM_REGISTRY: return "registered by mechfmu";
    default: return "on the path";
    }
}

/* Adds a candidate; takes ownership of `program`. */
static void add(Python *pythons, size_t *count, char *program, const char *before, Origin origin) {
    int known = !program || *count == MAX_PYTHONS;
    for (size_t i = 0; !known && i < *count; i++) known = strcmp(pythons[i].program, program) == 0;
    if (known)
        free(program);
    else
        pythons[(*count)++] = (Python){program, before, origin};
}

Python *pythons_find(size_t *count) {
    Python *pythons = calloc(MAX_PYTHONS, sizeof *pythons);
    *count = 0;
    if (!pythons) return NULL;
    char *named = environment("MECHFMU_PYTHON");
    if (named) {
        const size_t n = strlen(named);
        if (n > 2 && named[0] == '"' && named[n - 1] == '"') { /* as `set` on Windows leaves them */
            memmove(named, named + 1, n - 2);
            named[n - 2] = '\0';
        }
        char *found = find_program(named);
        if (found)
            free(named);
        else
            found = named; /* starting it will fail with a message */
        add(pythons, count, found, NULL, FROM_VARIABLE);
    }
    add(pythons, count, own_python(), NULL, FROM_HOST);
    static const char *const ACTIVE[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    for (size_t i = 0; i < 2; i++) {
        char *folder = environment(ACTIVE[i]);
        if (folder) add(pythons, count, virtual_environment_python(folder), NULL, FROM_ENVIRONMENT);
        free(folder);
    }
    add(pythons, count, registered_python(), NULL, FROM_REGISTRY);
    const char *before;
    char *program;
    for (size_t i = 0; (program = python_on_path(i, &before)) != NULL; i++)
        add(pythons, count, program, before, FROM_PATH);
    return pythons;
}

void pythons_free(Python *pythons, size_t count) {
    for (size_t i = 0; i < count; i++) free(pythons[i].program);
    free(pythons);
}
