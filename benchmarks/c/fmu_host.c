/* A small FMI 2.0 host: loads an FMU's library, steps one instance, creates many. */
#include "burst.h"

#include "fmi2.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    void *library;
    const char *guid;
    fmi2Component (*instantiate)(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *,
                                 fmi2Boolean, fmi2Boolean);
    void (*release)(fmi2Component);
    fmi2Status (*setup)(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real);
    fmi2Status (*enter)(fmi2Component), (*leave)(fmi2Component);
    fmi2Status (*get_state)(fmi2Component, fmi2FMUstate *), (*set_state)(fmi2Component, fmi2FMUstate);
    fmi2Status (*step)(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean);
    fmi2Component instance; /* the one that is stepped */
    fmi2FMUstate start;     /* its state at t = 0 */
    fmi2Component *crowd;
    size_t crowded;
} Host;

static void log_message(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                        fmi2String category, fmi2String message, ...) {
    va_list values;
    (void)environment;
    fprintf(stderr, "%s, status %d, %s: ", instance, (int)status, category);
    va_start(values, message);
    vfprintf(stderr, message, values);
    va_end(values);
    fputc('\n', stderr);
}

static const fmi2CallbackFunctions CALLBACKS = {log_message, calloc, free, NULL, NULL};

/* An initialized instance at t = 0, or NULL after an error. */
static fmi2Component initialized_instance(const Host *h, double tolerance) {
    fmi2Component c = h->instantiate("benchmark", fmi2CoSimulation, h->guid, "", &CALLBACKS, fmi2False, fmi2False);
    if (!c) return NULL;
    return h->setup(c, fmi2True, tolerance, 0, fmi2False, 0) || h->enter(c) || h->leave(c) ? NULL : c;
}

/* NULL when the library cannot be loaded or its instance cannot be created. The texts must remain valid as long as the
 * host. */
void *host_open(const char *library, const char *guid, double tolerance) {
    Host *h = calloc(1, sizeof *h);
    h->guid = guid;
    h->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!h->library) {
        fprintf(stderr, "%s\n", dlerror());
        return NULL;
    }
    const struct {
        void *function;
        const char *name;
    } wanted[] = {{&h->instantiate, "fmi2Instantiate"},      {&h->release, "fmi2FreeInstance"},
                  {&h->setup, "fmi2SetupExperiment"},        {&h->enter, "fmi2EnterInitializationMode"},
                  {&h->leave, "fmi2ExitInitializationMode"}, {&h->get_state, "fmi2GetFMUstate"},
                  {&h->set_state, "fmi2SetFMUstate"},        {&h->step, "fmi2DoStep"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        *(void **)wanted[i].function = dlsym(h->library, wanted[i].name);
    h->instance = initialized_instance(h, tolerance);
    return h->instance && !h->get_state(h->instance, &h->start) ? h : NULL;
}

/* CPU seconds of `count` communication steps from t = 0; negative when one failed. */
double host_steps(void *host, double size, size_t count) {
    const Host *h = host;
    if (h->set_state(h->instance, h->start)) return -1;
    const double began = cpu_seconds();
    for (size_t i = 0; i < count; i++)
        if (h->step(h->instance, (double)i * size, size, fmi2True)) return -1;
    return cpu_seconds() - began;
}

/* CPU seconds to create `count` more instances, each initialized; negative when one failed. */
double host_crowd(void *host, double tolerance, size_t count) {
    Host *h = host;
    h->crowd = calloc(count, sizeof *h->crowd);
    const double began = cpu_seconds();
    for (h->crowded = 0; h->crowded < count; h->crowded++)
        if (!(h->crowd[h->crowded] = initialized_instance(h, tolerance))) return -1;
    return cpu_seconds() - began;
}

/* Every instance of the crowd makes one communication step from t = 0; 0 when all did. */
int host_crowd_step(void *host, double size) {
    const Host *h = host;
    for (size_t i = 0; i < h->crowded; i++)
        if (h->step(h->crowd[i], 0, size, fmi2True)) return 1;
    return 0;
}

void host_disperse(void *host) {
    Host *h = host;
    for (size_t i = 0; i < h->crowded; i++) h->release(h->crowd[i]);
    free(h->crowd);
    h->crowd = NULL;
    h->crowded = 0;
}
