/* The part of the C interface of FMI 2.0 that the units of this zoo need, written from the text of the standard. */
#ifndef ZOO_API_H
#define ZOO_API_H

#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

typedef enum { OK, WARNING, DISCARD, FAILED, FATAL, PENDING } Status;
typedef enum { MODEL_EXCHANGE, CO_SIMULATION } Kind;
typedef enum { STEP_STATUS, PENDING_STATUS, LAST_TIME, TERMINATED_STATUS } StatusKind;
typedef unsigned int Ref;
typedef const char *Text;

typedef struct {
    void (*logger)(void *environment, Text name, Status status, Text category, Text message, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *memory);
    void (*step_finished)(void *environment, Status status);
    void *environment;
} Callbacks;

typedef struct {
    int new_discrete_states_needed, terminate_simulation, nominals_changed, values_changed, next_time_defined;
    double next_time;
} EventInfo;

/* common */
EXPORT Text fmi2GetTypesPlatform(void);
EXPORT Text fmi2GetVersion(void);
EXPORT Status fmi2SetDebugLogging(void *c, int on, size_t n, const Text categories[]);
EXPORT void *fmi2Instantiate(Text name, Kind kind, Text guid, Text resources, const Callbacks *callbacks, int visible,
                             int logging);
EXPORT void fmi2FreeInstance(void *c);
EXPORT Status fmi2SetupExperiment(void *c, int tolerance_defined, double tolerance, double start, int stop_defined,
                                  double stop);
EXPORT Status fmi2EnterInitializationMode(void *c);
EXPORT Status fmi2ExitInitializationMode(void *c);
EXPORT Status fmi2Terminate(void *c);
EXPORT Status fmi2Reset(void *c);
EXPORT Status fmi2GetReal(void *c, const Ref vr[], size_t n, double value[]);
EXPORT Status fmi2GetInteger(void *c, const Ref vr[], size_t n, int value[]);
EXPORT Status fmi2GetBoolean(void *c, const Ref vr[], size_t n, int value[]);
EXPORT Status fmi2GetString(void *c, const Ref vr[], size_t n, Text value[]);
EXPORT Status fmi2SetReal(void *c, const Ref vr[], size_t n, const double value[]);
EXPORT Status fmi2SetInteger(void *c, const Ref vr[], size_t n, const int value[]);
EXPORT Status fmi2SetBoolean(void *c, const Ref vr[], size_t n, const int value[]);
EXPORT Status fmi2SetString(void *c, const Ref vr[], size_t n, const Text value[]);
EXPORT Status fmi2GetFMUstate(void *c, void **state);
EXPORT Status fmi2SetFMUstate(void *c, void *state);
EXPORT Status fmi2FreeFMUstate(void *c, void **state);
EXPORT Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size);
EXPORT Status fmi2SerializeFMUstate(void *c, void *state, char bytes[], size_t size);
EXPORT Status fmi2DeSerializeFMUstate(void *c, const char bytes[], size_t size, void **state);
EXPORT Status fmi2GetDirectionalDerivative(void *c, const Ref unknown[], size_t n_unknown, const Ref known[],
                                           size_t n_known, const double seed[], double result[]);
/* Model Exchange */
EXPORT Status fmi2EnterEventMode(void *c);
EXPORT Status fmi2NewDiscreteStates(void *c, EventInfo *info);
EXPORT Status fmi2EnterContinuousTimeMode(void *c);
EXPORT Status fmi2CompletedIntegratorStep(void *c, int no_set_prior, int *enter_event_mode, int *terminate);
EXPORT Status fmi2SetTime(void *c, double time);
EXPORT Status fmi2SetContinuousStates(void *c, const double x[], size_t n);
EXPORT Status fmi2GetDerivatives(void *c, double dx[], size_t n);
EXPORT Status fmi2GetEventIndicators(void *c, double z[], size_t n);
EXPORT Status fmi2GetContinuousStates(void *c, double x[], size_t n);
EXPORT Status fmi2GetNominalsOfContinuousStates(void *c, double x[], size_t n);
/* Co-Simulation */
EXPORT Status fmi2SetRealInputDerivatives(void *c, const Ref vr[], size_t n, const int order[], const double value[]);
EXPORT Status fmi2GetRealOutputDerivatives(void *c, const Ref vr[], size_t n, const int order[], double value[]);
EXPORT Status fmi2DoStep(void *c, double point, double size, int no_set_prior);
EXPORT Status fmi2CancelStep(void *c);
EXPORT Status fmi2GetStatus(void *c, StatusKind kind, Status *value);
EXPORT Status fmi2GetRealStatus(void *c, StatusKind kind, double *value);
EXPORT Status fmi2GetIntegerStatus(void *c, StatusKind kind, int *value);
EXPORT Status fmi2GetBooleanStatus(void *c, StatusKind kind, int *value);
EXPORT Status fmi2GetStringStatus(void *c, StatusKind kind, Text *value);

#endif
