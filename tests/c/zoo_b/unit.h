/* What all parts of a unit share: the table of variables, the model's functions and one instance. */
#ifndef UNIT_H
#define UNIT_H

#include "defects.h"
#include "fmi2_mini.h"

#include <pthread.h>

#include "pin.h"

#define TEXT_LENGTH 160
#define MAX_INPUTS 8
#define MAX_ORDER 3
#define LATE 12.95

typedef enum { REAL, INTEGER, BOOLEAN, STRING } Kind;

/* roles of a variable; an independent constant has only CONSTANT */
enum {
    PARAMETER = 1,
    TUNABLE = 2,
    INPUT = 4,
    OUTPUT = 8,
    CALCULATED = 16,
    LOCAL = 32,
    EXACT = 64,
    DISCRETE = 128,
    STATE = 256,
    CONSTANT = 512,
    TIME = 1024,
    UNKNOWN = 2048,
    CHOICE = 4096
};

enum {
    INSTANTIATED = 1,
    INITIALIZING = 2,
    EVENT = 4,
    CONTINUOUS = 8,
    STEPPED = 16,
    FAILED = 32,
    CANCELED = 64,
    PENDING = 128,
    TERMINATED = 256,
    BROKEN = 512
};

typedef struct {
    Kind kind;
    unsigned vr;
    size_t at; /* place of the named member in the data of the model */
    unsigned role;
    double start;
    const char *text;
    int choices; /* number of items of an enumeration */
} Variable;

typedef struct Unit Unit;

typedef struct {
    size_t size; /* of the data; its first member is the time */
    const Variable *variables;
    size_t count;
    size_t nx, nz;
    const size_t *states, *derivatives; /* places in the data */
    double dt;                          /* largest step of the solver inside */
    void (*initialize)(Unit *);         /* equations of the initialization, can be repeated */
    void (*evaluate)(Unit *);           /* all that follows time, states and inputs */
    void (*indicators)(Unit *, double *);
    void (*event)(Unit *, fmi2EventInfo *);
    void (*nominals)(Unit *, double *);
    void (*advance)(Unit *, double h); /* own solver, or NULL */
    int (*differentiate)(Unit *, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk,
                         const double *seed, double *result);
} Model;

typedef struct {
    int mode;
    int stop_defined;
    int wants_stop;
    int unread; /* inputs were set and no step was made since */
    long steps;
    double start, stop, last_success, first_size;
    double du[MAX_INPUTS][MAX_ORDER + 1]; /* derivatives of inputs at the beginning of the step */
    double slope[MAX_INPUTS];             /* first derivatives of inputs at the end of the last step */
} Core;

typedef struct Saved {
    struct Saved *next;
    Core core;
    unsigned char data[];
} Saved;

struct Unit {
    const Model *model;
    fmi2CallbackFunctions callbacks;
    const fmi2CallbackFunctions *borrowed;
    char *name;
    const char *borrowed_name;
    fmi2Type type;
    unsigned categories;
    Core core;
    void *data;
    Saved *saved;
    size_t guess;
    /* a step that runs on its own */
    pthread_t worker;
    pthread_mutex_t lock;
    int threaded, done, polls;
    fmi2Status result;
    double step_from, step_to;
};

/* unit.c */
void *unit_allocate(Unit *u, size_t size);
void unit_release(Unit *u, void *memory);
void say(Unit *u, fmi2Status status, const char *category, const char *format, ...);
fmi2Status fail(Unit *u, const char *format, ...);
int allowed(Unit *u, unsigned modes, const char *what);
const Variable *find(Unit *u, Kind kind, unsigned vr);
void refresh(Unit *u);
void start_values(Unit *u);
double *real_at(Unit *u, size_t at);
double *unit_time(Unit *u);
int text_equal(const char *a, const char *b);

/* unit_me.c */
void iterate_events(Unit *u, fmi2EventInfo *info);

/* unit_cs.c */
void settle(Unit *u);

/* unit_life.c */
void life_on_load(void);
void life_on_instantiate(Unit *u);
void life_on_step(Unit *u);
int life_status(Unit *u, fmi2Status *status);

/* the models */
extern const Model TANK, CLOCK, RELAY, STIFF, MANY, ONLY_TIME, NOISE, GEARS;
const Model *chosen_model(void);
extern const char *const UNIT_GUID;

#endif
