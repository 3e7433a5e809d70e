/* Small models for the strictly compliant units: each one uses a freedom of the standard. */
#include "tank.h"

#include <math.h>
#include <stddef.h>

#define CLOSE 1e-9
#define TINY(t) (1e-11 * (1.0 + fabs(t)))
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define VAR(kind, vr, type, member, role, start) {kind, vr, offsetof(type, member), role, start, "", 0}
#define FIXED (PARAMETER | EXACT)

static void nothing(Unit *u) { (void)u; }

/* the next multiple of a period after the start, counted so that nothing adds up */
static void schedule(const Unit *u, fmi2EventInfo *info, long count, double period) {
    info->nextEventTimeDefined = 1;
    info->nextEventTime = u->core.start + (double)count * period;
}

static int due(Unit *u, long count, double period) {
    double t = *unit_time(u);
    return t >= u->core.start + (double)count * period - TINY(t);
}

/* CLOCK: no states, no indicators, a time event at every 0.1 s; all outputs have initial = exact */
typedef struct {
    double time, wave, rate;
    int ticks, enable;
    long count;
} Clock;

static const Variable CLOCK_VARIABLES[] = {
    VAR(REAL, 1, Clock, time, TIME, 0),
    VAR(REAL, 2, Clock, wave, OUTPUT | DISCRETE | EXACT, 0),
    VAR(REAL, 3, Clock, rate, FIXED, 0.25),
    VAR(INTEGER, 1, Clock, ticks, OUTPUT | DISCRETE | EXACT, 0),
    VAR(BOOLEAN, 1, Clock, enable, INPUT | DISCRETE, 1),
};

static void clock_initialize(Unit *u) { ((Clock *)u->data)->count = 1; }

static void clock_event(Unit *u, fmi2EventInfo *info) {
    Clock *k = u->data;
    if (due(u, k->count, 0.1)) {
        k->count++;
        if (k->enable) {
            k->ticks++;
            k->wave = sin(k->rate * k->ticks);
        }
        info->newDiscreteStatesNeeded = 1;
    }
    schedule(u, info, k->count, 0.1);
}

const Model CLOCK = {sizeof(Clock),
                     CLOCK_VARIABLES,
                     COUNT(CLOCK_VARIABLES),
                     0,
                     0,
                     NULL,
                     NULL,
                     1.0,
                     clock_initialize,
                     nothing,
                     NULL,
                     clock_event,
                     NULL,
                     NULL,
                     NULL};

/* RELAY: a heater with hysteresis, a state event about every 0.1 s and never two at once */
typedef struct {
    double time, temperature, rate, power, load;
    int on, switches;
} Relay;

static const Variable RELAY_VARIABLES[] = {
    VAR(REAL, 1, Relay, time, TIME, 0),
    VAR(REAL, 2, Relay, temperature, OUTPUT | STATE | EXACT, 1.0),
    VAR(REAL, 3, Relay, rate, LOCAL | UNKNOWN, 0),
    VAR(REAL, 4, Relay, power, FIXED, 4.0),
    VAR(REAL, 5, Relay, load, INPUT, 2.0),
    VAR(BOOLEAN, 1, Relay, on, OUTPUT | DISCRETE | EXACT, 1),
    VAR(INTEGER, 1, Relay, switches, OUTPUT | DISCRETE | EXACT, 0),
};
static const size_t RELAY_STATES[] = {offsetof(Relay, temperature)};
static const size_t RELAY_RATES[] = {offsetof(Relay, rate)};

static void relay_evaluate(Unit *u) {
    Relay *k = u->data;
    k->rate = (k->on ? k->power : 0.0) - k->load;
}

static void relay_indicators(Unit *u, double *z) {
    Relay *k = u->data;
    z[0] = k->on ? 1.1 - k->temperature : k->temperature - 0.9;
}

static void relay_event(Unit *u, fmi2EventInfo *info) {
    Relay *k = u->data;
    double z;
    relay_indicators(u, &z);
    if (z > CLOSE) return;
    k->on = !k->on;
    k->switches++;
    info->newDiscreteStatesNeeded = 1;
}

const Model RELAY = {
    sizeof(Relay),  RELAY_VARIABLES, COUNT(RELAY_VARIABLES), 1,           1,    RELAY_STATES, RELAY_RATES, 0.02,
    relay_evaluate, relay_evaluate,  relay_indicators,       relay_event, NULL, NULL,         NULL};

/* STIFF: eigenvalues -1e6 and -1, solved exactly */
typedef struct {
    double time, fast, slow, fast_rate, slow_rate, input;
} Stiff;

static const Variable STIFF_VARIABLES[] = {
    VAR(REAL, 1, Stiff, time, TIME, 0),
    VAR(REAL, 2, Stiff, fast, OUTPUT | STATE | EXACT, 0.5),
    VAR(REAL, 3, Stiff, slow, OUTPUT | STATE | EXACT, 0.5),
    VAR(REAL, 4, Stiff, fast_rate, LOCAL | UNKNOWN, 0),
    VAR(REAL, 5, Stiff, slow_rate, LOCAL | UNKNOWN, 0),
    VAR(REAL, 6, Stiff, input, INPUT, 1.0),
};
static const size_t STIFF_STATES[] = {offsetof(Stiff, fast), offsetof(Stiff, slow)};
static const size_t STIFF_RATES[] = {offsetof(Stiff, fast_rate), offsetof(Stiff, slow_rate)};

static void stiff_evaluate(Unit *u) {
    Stiff *k = u->data;
    k->fast_rate = -1e6 * (k->fast - k->slow);
    k->slow_rate = -(k->slow - k->input);
}

static void stiff_advance(Unit *u, double h) {
    Stiff *k = u->data;
    double c = k->slow - k->input, ratio = 1e6 / (1e6 - 1.0);
    double off = k->fast - (k->input + c * ratio);
    k->slow = k->input + c * exp(-h);
    k->fast = k->input + c * ratio * exp(-h) + off * exp(-1e6 * h);
}

static void no_event(Unit *u, fmi2EventInfo *info) {
    (void)u;
    (void)info;
}

const Model STIFF = {
    sizeof(Stiff), STIFF_VARIABLES, COUNT(STIFF_VARIABLES), 2,    0,        STIFF_STATES, STIFF_RATES,
    1e9,           stiff_evaluate,  stiff_evaluate,         NULL, no_event, NULL,         stiff_advance,
    NULL};

/* MANY: 1000 parameters and 1000 outputs with value references over the whole range */
enum { ROWS = 1000 };

typedef struct {
    double time, input, factor[ROWS], output[ROWS];
} Many;

static Variable many_variables[2 + 2 * ROWS];

static void many_evaluate(Unit *u) {
    Many *k = u->data;
    for (int i = 0; i < ROWS; i++) k->output[i] = k->factor[i] * k->input;
}

const Model MANY = {sizeof(Many),  many_variables, 2 + 2 * ROWS, 0,        0,    NULL, NULL, 1e9,
                    many_evaluate, many_evaluate,  NULL,         no_event, NULL, NULL, NULL};

static void many_fill(void) {
    Variable *v = many_variables;
    *v++ = (Variable)VAR(REAL, 4294967295u, Many, time, TIME, 0);
    *v++ = (Variable)VAR(REAL, 0u, Many, input, INPUT, 1.0);
    for (unsigned i = 0; i < ROWS; i++) {
        size_t at = offsetof(Many, factor) + i * sizeof(double);
        *v++ = (Variable){REAL, 2147483648u + i, at, FIXED, 1.0 + 0.001 * i, "", 0};
    }
    for (unsigned i = 0; i < ROWS; i++) {
        size_t at = offsetof(Many, output) + i * sizeof(double);
        *v++ = (Variable){REAL, 4294960000u + i, at, OUTPUT | UNKNOWN, 0, "", 0};
    }
}

/* ONLY_TIME: nothing but the independent variable */
static const Variable ONLY_TIME_VARIABLES[] = {{REAL, 0, 0, TIME, 0, "", 0}};

const Model ONLY_TIME = {
    sizeof(double), ONLY_TIME_VARIABLES, 1, 0, 0, NULL, NULL, 1e9, nothing, nothing, NULL, no_event, NULL, NULL, NULL};

/* NOISE: a random-number generator whose state is part of the saved state */
typedef struct {
    double time, noise, sum;
    int seed;
    unsigned long long random;
    long count;
} Noise;

static const Variable NOISE_VARIABLES[] = {
    VAR(REAL, 1, Noise, time, TIME, 0),
    VAR(REAL, 2, Noise, noise, OUTPUT | DISCRETE | UNKNOWN, 0),
    VAR(REAL, 3, Noise, sum, LOCAL | DISCRETE, 0),
    VAR(INTEGER, 1, Noise, seed, FIXED, 12345),
};

static void noise_draw(Noise *k) {
    k->random ^= k->random << 13;
    k->random ^= k->random >> 7;
    k->random ^= k->random << 17;
    k->noise = (double)(k->random >> 11) / 9007199254740992.0 - 0.5;
    k->sum += k->noise;
}

static void noise_initialize(Unit *u) {
    Noise *k = u->data;
    k->random = 88172645463325252ULL ^ ((unsigned long long)(unsigned)k->seed << 20);
    k->sum = 0.0;
    k->count = 1;
    noise_draw(k);
}

static void noise_event(Unit *u, fmi2EventInfo *info) {
    Noise *k = u->data;
    if (due(u, k->count, 0.1)) {
        k->count++;
        noise_draw(k);
        info->newDiscreteStatesNeeded = 1;
    }
    schedule(u, info, k->count, 0.1);
}

const Model NOISE = {sizeof(Noise),
                     NOISE_VARIABLES,
                     COUNT(NOISE_VARIABLES),
                     0,
                     0,
                     NULL,
                     NULL,
                     1.0,
                     noise_initialize,
                     nothing,
                     NULL,
                     noise_event,
                     NULL,
                     NULL,
                     NULL};

/* GEARS: which equation an output follows depends on the gear, which changes at state events */
typedef struct {
    double time, speed, rate, throttle, ratio, torque;
    int gear;
} Gears;

static const Variable GEARS_VARIABLES[] = {
    VAR(REAL, 1, Gears, time, TIME, 0),
    VAR(REAL, 2, Gears, speed, OUTPUT | STATE | EXACT, 0.0),
    VAR(REAL, 3, Gears, rate, LOCAL | UNKNOWN, 0),
    VAR(REAL, 4, Gears, throttle, INPUT, 0.8),
    VAR(REAL, 5, Gears, ratio, FIXED, 3.0),
    VAR(REAL, 6, Gears, torque, OUTPUT | UNKNOWN, 0),
    {INTEGER, 1, offsetof(Gears, gear), OUTPUT | DISCRETE | EXACT | CHOICE, 1, "", 3},
};
static const size_t GEARS_STATES[] = {offsetof(Gears, speed)};
static const size_t GEARS_RATES[] = {offsetof(Gears, rate)};

static void gears_evaluate(Unit *u) {
    Gears *k = u->data;
    switch (k->gear) {
    case 1: k->torque = k->ratio * k->throttle; break;
    case 2: k->torque = 2.0 * k->throttle - 0.1 * k->speed; break;
    default: k->torque = 0.5 + 0.0 * k->throttle; break;
    }
    k->rate = k->torque - 0.2 * k->speed;
}

static void gears_indicators(Unit *u, double *z) {
    Gears *k = u->data;
    z[0] = k->gear > 1 ? k->speed - 1.9 : k->speed - 2.0;
    z[1] = k->gear > 2 ? k->speed - 3.4 : k->speed - 3.5;
}

static void gears_event(Unit *u, fmi2EventInfo *info) {
    Gears *k = u->data;
    double z[2];
    int gear;
    gears_indicators(u, z);
    gear = z[0] <= (k->gear > 1 ? CLOSE : -CLOSE) ? 1 : z[1] <= (k->gear > 2 ? CLOSE : -CLOSE) ? 2 : 3;
    info->newDiscreteStatesNeeded = gear != k->gear;
    k->gear = gear;
}

const Model GEARS = {
    sizeof(Gears),  GEARS_VARIABLES, COUNT(GEARS_VARIABLES), 1,           2,    GEARS_STATES, GEARS_RATES, 0.01,
    gears_evaluate, gears_evaluate,  gears_indicators,       gears_event, NULL, NULL,         NULL};

const Model *chosen_model(void) {
    if (BUG(model_clock)) return &CLOCK;
    if (BUG(model_relay)) return &RELAY;
    if (BUG(model_stiff)) return &STIFF;
    if (BUG(model_time)) return &ONLY_TIME;
    if (BUG(model_noise)) return &NOISE;
    if (BUG(model_gears)) return &GEARS;
    if (BUG(model_many)) {
        many_fill();
        return &MANY;
    }
    return &TANK;
}
