/* Every function of FMI 2.0 in every state, with good and bad arguments, in random order from a seed.
 *
 *     call_table random SEED SEQUENCES    prints the number of calls, and of pairs of function and state without a call
 *     call_table lifecycles COUNT         instantiates, runs and frees COUNT instances of both types
 *
 * The legal calls of each state are listed here again, from the state tables of the standard, independently of the
 * FMU's own table. A legal call with good arguments must succeed; any other must return fmi2Error and leave the
 * instance as it was, bit by bit. A question for a status that the FMU does not have gets fmi2Discard (2.1.3). */
#include "fmi2.h"
#include "model.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- random numbers ----------------------------------------------------------------------------------------------- */

static unsigned long long seed_now;

static unsigned below(unsigned n) {
    seed_now = seed_now * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed_now >> 33) % n;
}

static double uniform(double low, double high) { return low + (high - low) * below(1000000) / 1e6; }

/* --- states ------------------------------------------------------------------------------------------------------- */

enum { INSTANTIATED, INITIALIZATION, EVENT_MODE, CONTINUOUS_TIME, STEP_COMPLETE, TERMINATED, STATES };
static const char *const STATE_NAMES[STATES] = {"instantiated",    "initialization", "event mode",
                                                "continuous time", "step complete",  "terminated"};

#define BIT(state) (1u << (state))
#define ALL (BIT(STATES) - 1)
#define READABLE (ALL & ~BIT(INSTANTIATED))
#define RUNNING (BIT(EVENT_MODE) | BIT(CONTINUOUS_TIME) | BIT(STEP_COMPLETE))
#define EXCHANGE (BIT(EVENT_MODE) | BIT(CONTINUOUS_TIME))

enum { SAVED = 3, MOST = 64 };

typedef struct {
    fmi2Component c;
    fmi2Type type;
    int state;
    double t, stop;
    fmi2FMUstate saved[SAVED];
    int saved_state[SAVED];
    double saved_t[SAVED], saved_stop[SAVED];
} Host;

/* A call: whether its arguments are bad, and whether this FMU may accept what the standard does not allow. */
typedef struct {
    int bad, tolerated;
    int may_refuse; /* random parameters need not fit together */
    int next_state; /* where a legal call leads */
    double next_t, next_stop;
    int unavailable; /* a status that this FMU does not have */
} Call;

static long messages;

static void logger(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                   fmi2String message, ...) {
    char text[2000];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    if (environment != &messages || strcmp(instance, "a name") != 0 || status > fmi2Fatal || !*category || !*text) {
        fprintf(stderr, "a message that is not valid: %s\n", text);
        exit(1);
    }
    messages++;
}

static const fmi2CallbackFunctions CALLBACKS = {logger, calloc, free, NULL, &messages};

static fmi2Component instantiate(fmi2Type type) {
    char name[] = "a name";
    fmi2Component c = fmi2Instantiate(name, type, model.guid, "file:///nowhere", &CALLBACKS, fmi2False, (int)below(2));
    if (!c) exit(2);
    name[0] = 'X'; /* the name must have been copied */
    return c;
}

/* --- variables ---------------------------------------------------------------------------------------------------- */

static const Row *row_of(fmi2ValueReference reference) {
    for (size_t i = 0; i < model.n_rows; i++)
        if (reference >= model.rows[i].reference && reference < model.rows[i].reference + model.rows[i].count)
            return &model.rows[i];
    return NULL;
}

static int matches(const Row *row, Kind kind) { return row->kind == kind; }

/* Some variables of the kind, of any role or of that one (role < 0: any); 0 when there are none. */
static size_t pick(fmi2ValueReference *references, Kind kind, int role) {
    const size_t n = 1 + below(5);
    size_t rows = 0;
    for (size_t i = 0; i < model.n_rows; i++)
        rows += matches(&model.rows[i], kind) && (role < 0 || model.rows[i].role == (Role)role);
    if (rows == 0) return 0;
    for (size_t i = 0; i < n; i++) {
        size_t chosen = below((unsigned)rows), k = 0;
        for (;; k++)
            if (matches(&model.rows[k], kind) && (role < 0 || model.rows[k].role == (Role)role) && chosen-- == 0) break;
        references[i] = model.rows[k].reference + below(model.rows[k].count);
    }
    return n;
}

static double good_value(const Row *row) {
    const double low = fmax(fmax(row->min, row->above), -1), high = fmin(row->max, fmax(low, 0) + 1);
    if (row->kind == BOOLEAN) return below(2);
    if (row->kind == INTEGER) return low + below((unsigned)(high - low + 1));
    return uniform(low + 0.3 * (high - low), high);
}

/* Trial evaluations may lie past the stop time, steps and events may not (2.1.6). */
static int past_stop(const Host *h, double t) { return t > h->stop; }

/* --- the calls: each chooses arguments and records its choice in `call` ------------------------------------------- */

typedef fmi2Status Do(Host *, Call *);

static fmi2Status set_debug_logging(Host *h, Call *call) {
    const fmi2String good[] = {"logAll", "logStatusError"}, bad[] = {"logStatusError", "nonsense"}, null[] = {NULL};
    switch (below(5)) {
    case 0: return fmi2SetDebugLogging(h->c, fmi2True, 0, NULL);
    case 1: return fmi2SetDebugLogging(h->c, (int)below(2), 2, good);
    case 2: call->bad = 1; return fmi2SetDebugLogging(h->c, fmi2True, 2, bad);
    case 3: call->bad = 1; return fmi2SetDebugLogging(h->c, fmi2True, 1, null);
    default: call->bad = 1; return fmi2SetDebugLogging(h->c, fmi2False, 3, NULL);
    }
}

static fmi2Status setup_experiment(Host *h, Call *call) {
    const double t = uniform(-1, 1), stop = t + uniform(0.001, 0.5);
    call->next_t = t;
    call->next_stop = INFINITY;
    switch (below(7)) {
    case 0: call->bad = 1; return fmi2SetupExperiment(h->c, fmi2False, 0, NAN, fmi2False, 0);
    case 1: call->bad = 1; return fmi2SetupExperiment(h->c, fmi2True, 0, 0, fmi2False, 0);
    case 2: call->bad = 1; return fmi2SetupExperiment(h->c, fmi2True, NAN, 0, fmi2False, 0);
    case 3: call->bad = 1; return fmi2SetupExperiment(h->c, fmi2False, 0, 1, fmi2True, 0.5);
    case 4: call->next_stop = stop; return fmi2SetupExperiment(h->c, fmi2False, -5, t, fmi2True, stop);
    default: return fmi2SetupExperiment(h->c, fmi2True, pow(10, -uniform(3, 9)), t, fmi2False, NAN);
    }
}

static fmi2Status enter_initialization(Host *h, Call *call) {
    call->next_state = INITIALIZATION;
    return fmi2EnterInitializationMode(h->c);
}

static fmi2Status exit_initialization(Host *h, Call *call) {
    call->next_state = h->type == fmi2CoSimulation ? STEP_COMPLETE : EVENT_MODE;
    call->may_refuse = model.nr > 0;
    return fmi2ExitInitializationMode(h->c);
}

static fmi2Status terminate(Host *h, Call *call) {
    call->next_state = TERMINATED;
    return fmi2Terminate(h->c);
}

static fmi2Status reset(Host *h, Call *call) {
    call->next_state = INSTANTIATED;
    call->next_t = 0;
    call->next_stop = INFINITY;
    return fmi2Reset(h->c);
}

/* Getting: the references may be wrong, an array may be missing. */
#define GETTER(function, TYPE, KIND) \
    static fmi2Status get_##KIND(Host *h, Call *call) { \
        fmi2ValueReference references[MOST]; \
        TYPE values[MOST]; \
        const size_t n = pick(references, KIND, -1); \
        switch (below(7)) { \
        case 0: return function(h->c, NULL, 0, NULL); \
        case 1: call->bad = 1; return function(h->c, NULL, 2, values); \
        case 2: call->bad = n > 0; return function(h->c, references, n, NULL); \
        case 3: \
            references[n] = model.n_variables + below(9); \
            call->bad = 1; \
            return function(h->c, references, n + 1, values); \
        case 4: \
            references[n] = UINT_MAX; \
            call->bad = 1; \
            return function(h->c, references, n + 1, values); \
        case 5: \
            references[n] = below(model.n_variables); \
            call->bad = !matches(row_of(references[n]), KIND); \
            return function(h->c, references, n + 1, values); \
        default: return function(h->c, references, n, values); \
        } \
    }

GETTER(fmi2GetReal, fmi2Real, REAL)
GETTER(fmi2GetInteger, fmi2Integer, INTEGER)
GETTER(fmi2GetBoolean, fmi2Boolean, BOOLEAN)

/* No variable is a String. */
static fmi2Status get_string(Host *h, Call *call) {
    fmi2ValueReference reference = below(2 * model.n_variables);
    fmi2String value = NULL;
    if (below(3) == 0) return fmi2GetString(h->c, NULL, 0, NULL);
    call->bad = 1;
    return below(2) ? fmi2GetString(h->c, &reference, 1, &value) : fmi2GetString(h->c, NULL, 1, &value);
}

static fmi2Status set_string(Host *h, Call *call) {
    fmi2ValueReference reference = below(2 * model.n_variables);
    fmi2String value = "text";
    if (below(3) == 0) {
        call->tolerated = h->state == CONTINUOUS_TIME; /* nothing to set */
        return fmi2SetString(h->c, NULL, 0, NULL);
    }
    call->bad = 1;
    return below(2) ? fmi2SetString(h->c, &reference, 1, &value) : fmi2SetString(h->c, &reference, 1, NULL);
}

/* Setting: parameters before the run, inputs always. */
#define SETTER(function, TYPE, KIND) \
    static fmi2Status set_##KIND(Host *h, Call *call) { \
        fmi2ValueReference references[MOST]; \
        TYPE values[MOST]; \
        const int early = h->state == INSTANTIATED || h->state == INITIALIZATION; \
        const size_t n = pick(references, KIND, early && below(2) ? PARAMETER : INPUT); \
        for (size_t i = 0; i < n; i++) values[i] = (TYPE)good_value(row_of(references[i])); \
        values[n] = 0; \
        call->tolerated = n == 0 && h->state == CONTINUOUS_TIME; \
        switch (below(9)) { \
        case 0: call->tolerated = h->state == CONTINUOUS_TIME; return function(h->c, NULL, 0, NULL); \
        case 1: call->bad = 1; return function(h->c, NULL, 2, values); \
        case 2: call->bad = n > 0; return function(h->c, references, n, NULL); \
        case 3: \
            references[n] = model.n_variables; \
            call->bad = 1; \
            return function(h->c, references, n + 1, values); \
        case 4: /* what cannot be set, or not now */ \
            do references[n] = below(model.n_variables); \
            while (row_of(references[n])->role == INPUT || (early && row_of(references[n])->role == PARAMETER)); \
            values[n] = (TYPE)good_value(row_of(references[n])); \
            call->bad = 1; \
            call->tolerated = \
                matches(row_of(references[n]), KIND) && \
                ((row_of(references[n])->role == STATE && (BIT(h->state) & (BIT(INSTANTIATED) | EXCHANGE))) || \
                 (row_of(references[n])->role == PARAMETER && h->state == EVENT_MODE)); /* as OpenModelica does */ \
            return function(h->c, references, n + 1, values); \
        case 5: /* outside the limits */ \
            for (size_t i = 0; i < n; i++) \
                if (row_of(references[i])->max < 1e9 && KIND != BOOLEAN) { \
                    values[i] = (TYPE)(row_of(references[i])->max + 1); \
                    call->bad = 1; \
                } \
            return function(h->c, references, n, values); \
        case 6: /* not a number */ \
            if (KIND == REAL && n) { \
                const double worst[] = {NAN, INFINITY, -INFINITY}; \
                values[below((unsigned)n)] = (TYPE)(KIND == REAL ? worst[below(3)] : 0); \
                call->bad = 1; \
            } \
            return function(h->c, references, n, values); \
        default: return function(h->c, references, n, values); \
        } \
    }

SETTER(fmi2SetReal, fmi2Real, REAL)
SETTER(fmi2SetInteger, fmi2Integer, INTEGER)
SETTER(fmi2SetBoolean, fmi2Boolean, BOOLEAN)

static fmi2Status get_state(Host *h, Call *call) {
    const unsigned k = below(SAVED);
    if (below(6) == 0) {
        call->bad = 1;
        return fmi2GetFMUstate(h->c, NULL);
    }
    const fmi2Status status = fmi2GetFMUstate(h->c, &h->saved[k]);
    h->saved_state[k] = h->state;
    h->saved_t[k] = h->t;
    h->saved_stop[k] = h->stop;
    return status;
}

static fmi2Status set_state(Host *h, Call *call) {
    const unsigned k = below(SAVED);
    if (!h->saved[k]) {
        call->bad = 1;
        return fmi2SetFMUstate(h->c, NULL);
    }
    call->next_state = h->saved_state[k];
    call->next_t = h->saved_t[k];
    call->next_stop = h->saved_stop[k];
    return fmi2SetFMUstate(h->c, h->saved[k]);
}

static fmi2Status free_state(Host *h, Call *call) {
    (void)call;
    return below(6) ? fmi2FreeFMUstate(h->c, &h->saved[below(SAVED)]) : fmi2FreeFMUstate(h->c, NULL);
}

static fmi2Status state_size(Host *h, Call *call) {
    size_t size = 0;
    const fmi2FMUstate saved = h->saved[below(SAVED)];
    const int without = below(5) == 0;
    call->bad = !saved || without;
    return fmi2SerializedFMUstateSize(h->c, saved, without ? NULL : &size);
}

static size_t size_of_states(Host *h) {
    size_t size = 0;
    fmi2FMUstate saved = NULL;
    if (fmi2GetFMUstate(h->c, &saved) || fmi2SerializedFMUstateSize(h->c, saved, &size) ||
        fmi2FreeFMUstate(h->c, &saved) || saved)
        exit(3);
    return size;
}

/* The buffers have exactly the size they claim, so that a sanitizer sees one byte too many. */
static fmi2Status serialize(Host *h, Call *call) {
    const fmi2FMUstate saved = h->saved[below(SAVED)];
    const size_t needed = size_of_states(h), size = below(3) ? needed : below((unsigned)needed);
    char *bytes = malloc(size ? size : 1);
    const int without = below(6) == 0;
    call->bad = !saved || without || size < needed;
    const fmi2Status status = fmi2SerializeFMUstate(h->c, saved, without ? NULL : bytes, size);
    free(bytes);
    return status;
}

static fmi2Status deserialize(Host *h, Call *call) {
    const unsigned k = below(SAVED);
    const size_t size = size_of_states(h), wrong = size - 1 - below((unsigned)size - 1);
    char *bytes = malloc(size);
    fmi2FMUstate source = NULL, target = NULL;
    if (fmi2GetFMUstate(h->c, &source) || fmi2SerializeFMUstate(h->c, source, bytes, size)) exit(3);
    fmi2FreeFMUstate(h->c, &source);
    fmi2Status status;
    switch (below(5)) {
    case 0:
        call->bad = 1;
        status = fmi2DeSerializeFMUstate(h->c, bytes, wrong, &target);
        break;
    case 1:
        call->bad = 1;
        bytes[below(40)] ^= 1;
        status = fmi2DeSerializeFMUstate(h->c, bytes, size, &target);
        break;
    case 2:
        call->bad = 1;
        status = fmi2DeSerializeFMUstate(h->c, NULL, size, &target);
        break;
    case 3:
        call->bad = 1;
        status = fmi2DeSerializeFMUstate(h->c, bytes, size, NULL);
        break;
    default:
        status = fmi2DeSerializeFMUstate(h->c, bytes, size, &h->saved[k]);
        h->saved_state[k] = h->state;
        h->saved_t[k] = h->t;
        h->saved_stop[k] = h->stop;
    }
    if (target) {
        fprintf(stderr, "invalid bytes were accepted as a state\n");
        exit(1);
    }
    free(bytes);
    return status;
}

static fmi2Status directional(Host *h, Call *call) {
    fmi2ValueReference unknowns[MOST], knowns[MOST];
    double seed[MOST], result[MOST];
    const int initial = h->state == INITIALIZATION;
    const size_t n = pick(unknowns, REAL, below(2) ? DERIVATIVE : OUTPUT);
    size_t m = pick(knowns, REAL, initial ? PARAMETER : STATE);
    for (size_t i = 0; i < MOST; i++) seed[i] = uniform(-1, 1);
    switch (below(8)) {
    case 0: return fmi2GetDirectionalDerivative(h->c, NULL, 0, NULL, 0, NULL, NULL);
    case 1: return fmi2GetDirectionalDerivative(h->c, unknowns, n, NULL, 0, NULL, result);
    case 2: call->bad = n > 0; return fmi2GetDirectionalDerivative(h->c, NULL, n, knowns, m, seed, result);
    case 3: call->bad = m > 0; return fmi2GetDirectionalDerivative(h->c, unknowns, n, knowns, m, NULL, result);
    case 4: call->bad = n > 0; return fmi2GetDirectionalDerivative(h->c, unknowns, n, knowns, m, seed, NULL);
    case 5:
        knowns[m++] = model.n_variables;
        call->bad = 1;
        return fmi2GetDirectionalDerivative(h->c, unknowns, n, knowns, m, seed, result);
    case 6:
        m = pick(knowns, REAL, OUTPUT);
        call->bad = m > 0;
        return fmi2GetDirectionalDerivative(h->c, unknowns, n, knowns, m, seed, result);
    default: return fmi2GetDirectionalDerivative(h->c, unknowns, n, knowns, m, seed, result);
    }
}

static fmi2Status enter_event_mode(Host *h, Call *call) {
    call->next_state = EVENT_MODE;
    call->bad = past_stop(h, h->t);
    return fmi2EnterEventMode(h->c);
}

static fmi2Status new_discrete_states(Host *h, Call *call) {
    fmi2EventInfo info;
    call->may_refuse = 1; /* parameters were set in event mode */
    if (below(6)) return fmi2NewDiscreteStates(h->c, &info);
    call->bad = 1;
    return fmi2NewDiscreteStates(h->c, NULL);
}

static fmi2Status enter_continuous_time(Host *h, Call *call) {
    call->next_state = CONTINUOUS_TIME;
    call->may_refuse = 1; /* parameters were set in event mode */
    return fmi2EnterContinuousTimeMode(h->c);
}

static fmi2Status completed_step(Host *h, Call *call) {
    fmi2Boolean event = 7, end = 7;
    switch (below(5)) {
    case 0: call->bad = 1; return fmi2CompletedIntegratorStep(h->c, fmi2True, NULL, &end);
    case 1: call->bad = 1; return fmi2CompletedIntegratorStep(h->c, fmi2False, &event, NULL);
    default: call->bad = past_stop(h, h->t); return fmi2CompletedIntegratorStep(h->c, (int)below(2), &event, &end);
    }
}

static fmi2Status set_time(Host *h, Call *call) {
    call->next_t = h->t + uniform(0, 0.1);
    if (below(4)) return fmi2SetTime(h->c, call->next_t);
    call->bad = 1;
    return fmi2SetTime(h->c, below(2) ? NAN : INFINITY);
}

/* Vectors of the host, exactly as long as they claim; `wanted` is the right length. */
static fmi2Status vector(Host *h, Call *call, fmi2Status (*function)(fmi2Component, fmi2Real[], size_t),
                         size_t wanted) {
    size_t n = wanted;
    switch (below(5)) {
    case 0: n = below((unsigned)wanted + 3); break;
    case 1: call->bad = n > 0; return function(h->c, NULL, n);
    default: break;
    }
    double *values = malloc(n * sizeof *values + 1);
    for (size_t i = 0; i < n; i++) values[i] = 0;
    call->bad = n != wanted;
    const fmi2Status status = function(h->c, values, n);
    free(values);
    return status;
}

static fmi2Status get_derivatives(Host *h, Call *call) {
    call->tolerated = h->state == INITIALIZATION;
    return vector(h, call, fmi2GetDerivatives, model.nx);
}

static fmi2Status get_indicators(Host *h, Call *call) { return vector(h, call, fmi2GetEventIndicators, model.ng); }

static fmi2Status get_states(Host *h, Call *call) { return vector(h, call, fmi2GetContinuousStates, model.nx); }

static fmi2Status get_nominals(Host *h, Call *call) {
    call->tolerated = h->state == INITIALIZATION;
    return vector(h, call, fmi2GetNominalsOfContinuousStates, model.nx);
}

static fmi2Status set_states(Host *h, Call *call) {
    size_t n = model.nx;
    const unsigned how = below(6);
    if (how == 0) n = below((unsigned)model.nx + 3);
    double *values = malloc(n * sizeof *values + 1);
    for (size_t i = 0; i < n; i++) values[i] = uniform(0.2, 1);
    if (how == 1 && n) values[below((unsigned)n)] = below(2) ? NAN : -INFINITY;
    call->bad = n != model.nx || how == 1 || how == 2;
    call->tolerated = !call->bad && h->state == EVENT_MODE; /* as OpenModelica does */
    const fmi2Status status = fmi2SetContinuousStates(h->c, how == 2 ? NULL : values, n);
    free(values);
    return status;
}

static fmi2Status set_input_derivatives(Host *h, Call *call) {
    fmi2ValueReference references[MOST];
    fmi2Integer order[MOST];
    double values[MOST];
    const unsigned how = below(9);
    const size_t n = pick(references, REAL, how == 0 ? OUTPUT : INPUT);
    for (size_t i = 0; i < n; i++) {
        order[i] = 1 + (int)below(3);
        values[i] = uniform(-1, 1);
    }
    call->bad = n > 0 && how < 6;
    if (how == 1) order[0] = below(2) ? 0 : 4;
    if (how == 2) values[0] = NAN;
    if (how == 3) return fmi2SetRealInputDerivatives(h->c, NULL, n, order, values);
    if (how == 4) return fmi2SetRealInputDerivatives(h->c, references, n, NULL, values);
    if (how == 5) return fmi2SetRealInputDerivatives(h->c, references, n, order, NULL);
    return fmi2SetRealInputDerivatives(h->c, references, n, order, values);
}

static fmi2Status get_output_derivatives(Host *h, Call *call) {
    fmi2ValueReference references[MOST];
    fmi2Integer order[MOST];
    double values[MOST];
    const unsigned how = below(8);
    const size_t n = pick(references, REAL, how == 0 ? PARAMETER : below(2) ? OUTPUT : STATE);
    for (size_t i = 0; i < n; i++) order[i] = 1;
    call->bad = n > 0 && how < 5;
    if (how == 1) order[0] = below(2) ? 0 : 2;
    if (how == 2) return fmi2GetRealOutputDerivatives(h->c, NULL, n, order, values);
    if (how == 3) return fmi2GetRealOutputDerivatives(h->c, references, n, NULL, values);
    if (how == 4) return fmi2GetRealOutputDerivatives(h->c, references, n, order, NULL);
    return fmi2GetRealOutputDerivatives(h->c, references, n, order, values);
}

static fmi2Status do_step(Host *h, Call *call) {
    const double size = pow(10, -uniform(1.5, 7));
    call->next_t = h->t + size;
    switch (below(9)) {
    case 0: call->bad = 1; return fmi2DoStep(h->c, h->t, 0, fmi2True);
    case 1: call->bad = 1; return fmi2DoStep(h->c, h->t, -size, fmi2True);
    case 2: call->bad = 1; return fmi2DoStep(h->c, h->t, below(2) ? NAN : INFINITY, fmi2True);
    case 3: call->bad = 1; return fmi2DoStep(h->c, h->t + 0.5, size, fmi2True);
    case 4: call->bad = 1; return fmi2DoStep(h->c, NAN, size, fmi2True);
    default: call->bad = past_stop(h, h->t + size); return fmi2DoStep(h->c, h->t, size, (int)below(2));
    }
}

static fmi2Status cancel_step(Host *h, Call *call) {
    (void)call;
    return fmi2CancelStep(h->c);
}

#define STATUS(name, function, TYPE, GOOD) \
    static fmi2Status name(Host *h, Call *call) { \
        TYPE value; \
        const int kind = (int)below(5), without = below(5) == 0; \
        call->bad = without; \
        call->unavailable = kind != (int)(GOOD); \
        return function(h->c, (fmi2StatusKind)kind, without ? NULL : &value); \
    }

STATUS(get_status, fmi2GetStatus, fmi2Status, fmi2DoStepStatus)
STATUS(get_real_status, fmi2GetRealStatus, fmi2Real, fmi2LastSuccessfulTime)
STATUS(get_integer_status, fmi2GetIntegerStatus, fmi2Integer, 99)
STATUS(get_boolean_status, fmi2GetBooleanStatus, fmi2Boolean, fmi2Terminated)
STATUS(get_string_status, fmi2GetStringStatus, fmi2String, 99)

/* --- the state tables of the standard ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    Do *call;
    unsigned co_simulation, model_exchange; /* the states in which it is allowed */
    int reads;                              /* it only reads */
} TABLE[] = {
    {"fmi2SetDebugLogging", set_debug_logging, ALL, ALL, 1},
    {"fmi2SetupExperiment", setup_experiment, BIT(INSTANTIATED), BIT(INSTANTIATED), 0},
    {"fmi2EnterInitializationMode", enter_initialization, BIT(INSTANTIATED), BIT(INSTANTIATED), 0},
    {"fmi2ExitInitializationMode", exit_initialization, BIT(INITIALIZATION), BIT(INITIALIZATION), 0},
    {"fmi2Terminate", terminate, BIT(STEP_COMPLETE), EXCHANGE, 0},
    {"fmi2Reset", reset, ALL, ALL, 0},
    {"fmi2GetReal", get_REAL, READABLE, READABLE, 1},
    {"fmi2GetInteger", get_INTEGER, READABLE, READABLE, 1},
    {"fmi2GetBoolean", get_BOOLEAN, READABLE, READABLE, 1},
    {"fmi2GetString", get_string, READABLE, READABLE, 1},
    {"fmi2SetReal", set_REAL, ALL & ~BIT(TERMINATED), ALL & ~BIT(TERMINATED), 0},
    {"fmi2SetInteger", set_INTEGER, ALL & ~BIT(TERMINATED), ALL & ~(BIT(TERMINATED) | BIT(CONTINUOUS_TIME)), 0},
    {"fmi2SetBoolean", set_BOOLEAN, ALL & ~BIT(TERMINATED), ALL & ~(BIT(TERMINATED) | BIT(CONTINUOUS_TIME)), 0},
    {"fmi2SetString", set_string, ALL & ~BIT(TERMINATED), ALL & ~(BIT(TERMINATED) | BIT(CONTINUOUS_TIME)), 0},
    {"fmi2GetFMUstate", get_state, ALL, ALL, 1},
    {"fmi2SetFMUstate", set_state, ALL, ALL, 0},
    {"fmi2FreeFMUstate", free_state, ALL, ALL, 1},
    {"fmi2SerializedFMUstateSize", state_size, ALL, ALL, 1},
    {"fmi2SerializeFMUstate", serialize, ALL, ALL, 1},
    {"fmi2DeSerializeFMUstate", deserialize, ALL, ALL, 1},
    {"fmi2GetDirectionalDerivative", directional, READABLE, READABLE, 1},
    {"fmi2EnterEventMode", enter_event_mode, 0, EXCHANGE, 0},
    {"fmi2NewDiscreteStates", new_discrete_states, 0, BIT(EVENT_MODE), 0},
    {"fmi2EnterContinuousTimeMode", enter_continuous_time, 0, BIT(EVENT_MODE), 0},
    {"fmi2CompletedIntegratorStep", completed_step, 0, BIT(CONTINUOUS_TIME), 0},
    {"fmi2SetTime", set_time, 0, EXCHANGE, 0},
    {"fmi2SetContinuousStates", set_states, 0, BIT(EVENT_MODE) | BIT(CONTINUOUS_TIME), 0},
    {"fmi2GetDerivatives", get_derivatives, 0, EXCHANGE | BIT(TERMINATED), 1},
    {"fmi2GetEventIndicators", get_indicators, 0, BIT(INITIALIZATION) | EXCHANGE | BIT(TERMINATED), 1},
    {"fmi2GetContinuousStates", get_states, 0, BIT(INITIALIZATION) | EXCHANGE | BIT(TERMINATED), 1},
    {"fmi2GetNominalsOfContinuousStates", get_nominals, 0, BIT(INSTANTIATED) | EXCHANGE | BIT(TERMINATED), 1},
    {"fmi2SetRealInputDerivatives", set_input_derivatives, BIT(INSTANTIATED) | BIT(INITIALIZATION) | BIT(STEP_COMPLETE),
     0, 0},
    {"fmi2GetRealOutputDerivatives", get_output_derivatives, BIT(STEP_COMPLETE) | BIT(TERMINATED), 0, 1},
    {"fmi2DoStep", do_step, BIT(STEP_COMPLETE), 0, 0},
    {"fmi2CancelStep", cancel_step, 0, 0, 0},
    {"fmi2GetStatus", get_status, BIT(STEP_COMPLETE) | BIT(TERMINATED), 0, 1},
    {"fmi2GetRealStatus", get_real_status, BIT(STEP_COMPLETE) | BIT(TERMINATED), 0, 1},
    {"fmi2GetIntegerStatus", get_integer_status, BIT(STEP_COMPLETE) | BIT(TERMINATED), 0, 1},
    {"fmi2GetBooleanStatus", get_boolean_status, BIT(STEP_COMPLETE) | BIT(TERMINATED), 0, 1},
    {"fmi2GetStringStatus", get_string_status, BIT(STEP_COMPLETE) | BIT(TERMINATED), 0, 1},
};

enum { FUNCTIONS = sizeof TABLE / sizeof *TABLE };

static long seen[FUNCTIONS][2][STATES];

/* The instance as bytes; in Initialization Mode a value is read first, which computes the start state that is otherwise
 * left until needed. */
static char *bytes_of(Host *h, size_t size) {
    char *bytes = malloc(size);
    fmi2FMUstate saved = NULL;
    const fmi2ValueReference time = 0;
    double value;
    if (h->state == INITIALIZATION && fmi2GetReal(h->c, &time, 1, &value)) exit(3);
    if (fmi2GetFMUstate(h->c, &saved) || fmi2SerializeFMUstate(h->c, saved, bytes, size)) exit(3);
    fmi2FreeFMUstate(h->c, &saved);
    return bytes;
}

static void complain(const Host *h, size_t f, const Call *call, fmi2Status status, const char *what) {
    fprintf(stderr, "%s (%s arguments) in state \"%s\" of %s returned %d: %s\n", TABLE[f].name,
            call->bad ? "bad" : "good", STATE_NAMES[h->state],
            h->type == fmi2CoSimulation ? "Co-Simulation" : "Model Exchange", (int)status, what);
    exit(1);
}

static void one_call(Host *h, size_t f, size_t size) {
    Call call = {.next_state = h->state, .next_t = h->t, .next_stop = h->stop};
    char *before = bytes_of(h, size);
    const long messages_before = messages;
    const fmi2Status status = TABLE[f].call(h, &call);
    const long logged = messages - messages_before;
    const unsigned allowed = h->type == fmi2CoSimulation ? TABLE[f].co_simulation : TABLE[f].model_exchange;
    const int legal = (allowed & BIT(h->state)) != 0 && !call.bad;
    seen[f][h->type][h->state]++;
    const fmi2Status good = call.unavailable ? fmi2Discard : fmi2OK;
    if (legal && status != good && !call.may_refuse) complain(h, f, &call, status, "a legal call was refused");
    if (!legal && !call.tolerated && status != fmi2Error)
        complain(h, f, &call, status, "an illegal call was not refused");
    if (status == fmi2Error && logged == 0) complain(h, f, &call, status, "no message says why");
    if (status == fmi2OK) {
        h->state = call.next_state;
        h->t = call.next_t;
        h->stop = call.next_stop;
    }
    char *after = bytes_of(h, size);
    if ((status == fmi2Error || TABLE[f].reads) && memcmp(before, after, size) != 0)
        complain(h, f, &call, status, "the instance has changed");
    free(before);
    free(after);
}

/* A random function; more often one that leads to the next state. */
static size_t choose_function(const Host *h) {
    static const char *const on[STATES] = {"fmi2EnterInitializationMode",
                                           "fmi2ExitInitializationMode",
                                           "fmi2EnterContinuousTimeMode",
                                           "fmi2CompletedIntegratorStep",
                                           "fmi2DoStep",
                                           "fmi2GetReal"};
    if (below(6) == 0)
        for (size_t f = 0; f < FUNCTIONS; f++)
            if (strcmp(TABLE[f].name, on[h->state]) == 0) return f;
    size_t f;
    do f = below(FUNCTIONS);
    while (below(4) && (TABLE[f].call == reset || TABLE[f].call == terminate)); /* less often */
    return f;
}

static void sequence(void) {
    Host h;
    memset(&h, 0, sizeof h);
    h.type = below(2) ? fmi2CoSimulation : fmi2ModelExchange;
    h.stop = INFINITY;
    h.c = instantiate(h.type);
    const size_t size = size_of_states(&h);
    const unsigned calls = 5 + below(80);
    for (unsigned i = 0; i < calls; i++) one_call(&h, choose_function(&h), size);
    for (int k = 0; k < SAVED; k++) fmi2FreeFMUstate(h.c, &h.saved[k]);
    fmi2FreeInstance(h.c);
}

/* A null pointer instead of an instance: every call is an error. */
static void without_instance(void) {
    Host h;
    for (size_t f = 0; f < FUNCTIONS; f++) {
        Call call = {0};
        memset(&h, 0, sizeof h);
        if (TABLE[f].call == serialize || TABLE[f].call == deserialize)
            continue; /* they need an instance to prepare their arguments */
        if (TABLE[f].call(&h, &call) != fmi2Error)
            complain(&h, f, &call, fmi2OK, "a call without an instance was not refused");
    }
    char bytes[8] = "";
    fmi2FMUstate saved = NULL;
    if (fmi2SerializeFMUstate(NULL, NULL, bytes, 8) != fmi2Error ||
        fmi2DeSerializeFMUstate(NULL, bytes, 8, &saved) != fmi2Error || saved)
        exit(4);
    fmi2FreeInstance(NULL);
}

static void bad_instances(void) {
    const fmi2CallbackFunctions mute = {NULL, calloc, free, NULL, NULL};
    const long before = messages;
    int refused = 0;
    refused += !fmi2Instantiate("a name", fmi2CoSimulation, "another guid", NULL, &CALLBACKS, fmi2False, fmi2False);
    refused += !fmi2Instantiate("a name", fmi2CoSimulation, NULL, NULL, &CALLBACKS, fmi2False, fmi2False);
    refused += !fmi2Instantiate("a name", (fmi2Type)7, model.guid, NULL, &CALLBACKS, fmi2False, fmi2False);
    if (refused != 3 || messages != before + 3) exit(5);
    refused += !fmi2Instantiate("a name", fmi2CoSimulation, model.guid, NULL, &mute, fmi2False, fmi2False);
    refused += !fmi2Instantiate("a name", fmi2CoSimulation, model.guid, NULL, NULL, fmi2False, fmi2False);
    if (refused != 5) exit(5);
    if (strcmp(fmi2GetVersion(), "2.0") != 0 || strcmp(fmi2GetTypesPlatform(), "default") != 0) exit(6);
}

static void lifecycles(int count) {
    for (int i = 0; i < count; i++) {
        Host h;
        fmi2FMUstate saved = NULL;
        fmi2EventInfo info;
        fmi2Boolean event, end;
        memset(&h, 0, sizeof h);
        h.type = i % 2 ? fmi2CoSimulation : fmi2ModelExchange;
        h.c = instantiate(h.type);
        int bad = fmi2SetupExperiment(h.c, fmi2True, 1e-4, 0, fmi2False, 0) || fmi2EnterInitializationMode(h.c) ||
                  fmi2ExitInitializationMode(h.c) || fmi2GetFMUstate(h.c, &saved);
        if (h.type == fmi2CoSimulation) {
            bad = bad || fmi2DoStep(h.c, 0, 1e-3, fmi2True) || fmi2SetFMUstate(h.c, saved) ||
                  fmi2DoStep(h.c, 0, 2e-3, fmi2True);
        } else {
            bad = bad || fmi2NewDiscreteStates(h.c, &info) || fmi2EnterContinuousTimeMode(h.c) ||
                  fmi2SetTime(h.c, 0.1) || fmi2CompletedIntegratorStep(h.c, fmi2True, &event, &end);
        }
        if (bad || fmi2FreeFMUstate(h.c, &saved)) exit(7);
        if (i % 3 == 0 && fmi2Terminate(h.c)) exit(7);
        fmi2FreeInstance(h.c);
    }
    printf("%d instantiate/free cycles\n", count);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "lifecycles") == 0) {
        lifecycles(atoi(argv[2]));
        return 0;
    }
    if (argc != 4 || strcmp(argv[1], "random") != 0) return 64;
    seed_now = strtoull(argv[2], NULL, 10);
    without_instance();
    bad_instances();
    for (int i = atoi(argv[3]); i > 0; i--) sequence();
    long calls = 0, missing = 0;
    for (size_t f = 0; f < FUNCTIONS; f++)
        for (int type = 0; type < 2; type++)
            for (int state = 0; state < STATES; state++) {
                const int exists = type == fmi2CoSimulation ? !(BIT(state) & EXCHANGE) : state != STEP_COMPLETE;
                calls += seen[f][type][state];
                missing += exists && seen[f][type][state] == 0;
            }
    printf("%ld calls, %ld messages, %ld pairs of function and state never tried\n", calls, messages, missing);
    return 0;
}
