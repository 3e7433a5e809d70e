/* A room with a heater and a thermostat. All variables are in arrays, one per type, indexed by value reference. */
#ifndef ZOO_UNIT_H
#define ZOO_UNIT_H

#include <complex.h>
#include <pthread.h>

#include "api.h"

/* value references */
enum {
    TIME,
    P_MAX,
    C_HEATER,
    C_ROOM,
    G_HR,
    G_LOSS,
    BAND,
    T_COMFORT,
    T_NIGHT,
    DAY,
    T_SERVICE,
    W_FELT,
    T_MAX,
    TAU_ROOM,
    P_REL,
    T_AMB,
    Q_SUN,
    PRICE,
    X_HEATER,
    X_ROOM,
    X_ENERGY,
    D_HEATER,
    D_ROOM,
    D_ENERGY,
    T_SENSOR,
    T_FELT,
    Q_OUT,
    POWER,
    COST,
    SETPOINT,
    C_WATER,
    OFFSET,
    T_WALL,
    REALS
};
enum {
    STAGES,
    GUESTS,
    SEED,
    PERSONS,
    SLOTS,
    SWITCHES,
    EVENTS,
    DAY_NUMBER,
    REVISION,
    CURVE,
    PROFILE,
    REQUEST,
    STAGE_PHASE,
    INTEGERS
};
enum { ENABLED, HAS_ALARM, WINDOW, RELAY, ALARM, OVERSIZED, BOOLEANS };
enum { NAME, NOTE, REMARK, LABEL, STATUS, MAKER, STRINGS };
enum { STATES = 3, INDICATORS = 2, MAX_ORDER = 3 };
enum { REQUEST_OFF = -1, REQUEST_AUTO = 0, REQUEST_BOOST = 5 };

/* how a variable may be used */
typedef enum {
    INDEPENDENT,
    CONSTANT,
    FIXED,
    TUNABLE,
    CALCULATED,
    INPUT_CONTINUOUS,
    INPUT_DISCRETE,
    STATE,
    OUTPUT,
    LOCAL,
    GUESS
} Role;

/* the states of 3.2.3 and 4.2.4 */
typedef enum {
    INSTANTIATED = 1,
    INITIALIZING = 2,
    EVENT = 4,
    CONTINUOUS = 8,
    COMPLETE = 16,
    IN_PROGRESS = 32,
    STEP_FAILED = 64,
    CANCELED = 128,
    DONE = 256
} Phase;
enum {
    READABLE = INITIALIZING | EVENT | CONTINUOUS | COMPLETE | STEP_FAILED | CANCELED | DONE,
    ANY = INSTANTIATED | READABLE
};

typedef double complex Number;

/* everything an FMU state saves, without pointers */
typedef struct {
    double r[REALS];
    int i[INTEGERS];
    int b[BOOLEANS];
    Phase phase;
    double slope[REALS][MAX_ORDER + 1]; /* input derivatives, by order */
    double end_slope[REALS];            /* first derivative of the inputs at the end of the last step */
    double next_event, energy_nominal, stop, first_size, last_good, last_point;
    int stop_defined, comfort, serviced, set_since_step, wants_to_stop, steps, evaluations, set_up;
    unsigned random;
} Plain;

typedef struct {
    Plain p;
    char *s[STRINGS];
} Memory;

typedef struct Saved {
    Memory m;
    struct Saved *next;
} Saved;

typedef struct Unit {
    Memory m;
    Callbacks call;
    const Callbacks *borrowed; /* only for one of the defects */
    char *name;
    Kind kind;
    unsigned categories;
    Saved *saved;
    pthread_t worker;
    int working;
    volatile int worker_done, cancel;
    Status worker_status;
    double point, size;
    double cached[STATES]; /* only for one of the defects */
    int cache_valid;
    void *waste;
} Unit;

/* unit_tables.c */
extern const Role REAL_ROLE[REALS], INTEGER_ROLE[INTEGERS], BOOLEAN_ROLE[BOOLEANS], STRING_ROLE[STRINGS];
extern const double REAL_LIMITS[REALS][2];
extern const int INTEGER_LIMITS[INTEGERS][2];
extern const Text CATEGORY[];
enum { LOG_EVENTS, LOG_WARNING, LOG_DISCARD, LOG_ERROR, CATEGORIES };
void start_values(Unit *u);

/* unit_memory.c */
void *take(Unit *u, size_t size);
void drop(Unit *u, void *memory);
void set_text(Unit *u, int vr, Text value);
void copy_memory(Unit *u, Memory *to, const Memory *from);
void release_memory(Unit *u, Memory *m);
void say(Unit *u, Status status, int category, Text format, ...);
Status refuse(Unit *u, Text why);
int legal(Unit *u, int phases, Text what);
void waste_resources(Unit *u);

/* unit_model.c */
void equations(const Plain *p, Number r[REALS]);
void evaluate(Unit *u);
void initial_discrete(Unit *u);
int update_discrete(Unit *u, EventInfo *info);
void indicators(const Plain *p, double z[INDICATORS]);
double next_boundary(const Plain *p);
void note_evaluation(Unit *u);

extern const int STATE_REF[STATES], DERIVATIVE_REF[STATES];

/* unit_step.c */
Status compute_step(Unit *u, double point, double size);

/* unit_cosim.c */
int collected(Unit *u);

#endif
