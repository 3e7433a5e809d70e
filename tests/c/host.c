/* A host without Python: loads an FMU's library, runs it in Co-Simulation, prints chosen values after every step.
 *
 *     host LIBRARY GUID STEP COUNT TOLERANCE REFERENCE...
 */
#include "fmi2.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#if defined _WIN32
#include <windows.h>
typedef HMODULE Library;
static Library load(const char *path) { return LoadLibraryA(path); }
static void *find(Library library, const char *name) { return (void *)GetProcAddress(library, name); }
#else
#include <dlfcn.h>
typedef void *Library;
static Library load(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *find(Library library, const char *name) { return dlsym(library, name); }
#endif

enum { MAX_REFERENCES = 100 };

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...) {
    va_list arguments;
    (void)environment;
    fprintf(stderr, "%s [%d, %s]: ", instance, (int)status, category);
    va_start(arguments, message);
    vfprintf(stderr, message, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static void must(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

/* function pointers and data pointers are the same size wherever FMUs run, but ISO C has no cast between them */
#define FIND(name) \
    union { \
        void *data; \
        __typeof__(&name) function; \
    } name##_found; \
    name##_found.data = find(library, #name); \
    must(name##_found.data != NULL, #name); \
    const __typeof__(&name) call_##name = name##_found.function

int main(int argc, char **argv) {
    fmi2ValueReference references[MAX_REFERENCES];
    double values[MAX_REFERENCES];
    must(argc > 6 && argc - 6 <= MAX_REFERENCES, "reading the arguments");
    const double step = atof(argv[3]), tolerance = atof(argv[5]);
    const int count = atoi(argv[4]);
    const size_t n = (size_t)(argc - 6);
    for (size_t i = 0; i < n; i++) references[i] = (fmi2ValueReference)atoi(argv[6 + i]);

    const Library library = load(argv[1]);
    must(library != NULL, "loading the library");
    FIND(fmi2Instantiate);
    FIND(fmi2SetupExperiment);
    FIND(fmi2EnterInitializationMode);
    FIND(fmi2ExitInitializationMode);
    FIND(fmi2DoStep);
    FIND(fmi2GetReal);
    FIND(fmi2Terminate);
    FIND(fmi2FreeInstance);

    const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};
    const fmi2Component c =
        call_fmi2Instantiate("host", fmi2CoSimulation, argv[2], "file:///nowhere", &callbacks, fmi2False, fmi2True);
    must(c != NULL, "fmi2Instantiate");
    must(call_fmi2SetupExperiment(c, fmi2True, tolerance, 0, fmi2False, 0) == fmi2OK, "fmi2SetupExperiment");
    must(call_fmi2EnterInitializationMode(c) == fmi2OK, "fmi2EnterInitializationMode");
    must(call_fmi2ExitInitializationMode(c) == fmi2OK, "fmi2ExitInitializationMode");
    double t = 0;
    for (int i = 0; i < count; i++, t += step) {
        must(call_fmi2DoStep(c, t, step, fmi2True) == fmi2OK, "fmi2DoStep");
        must(call_fmi2GetReal(c, references, n, values) == fmi2OK, "fmi2GetReal");
        for (size_t k = 0; k < n; k++) printf("%.17g%c", values[k], k + 1 < n ? ' ' : '\n');
    }
    must(call_fmi2Terminate(c) == fmi2OK, "fmi2Terminate");
    call_fmi2FreeInstance(c);
    return 0;
}
