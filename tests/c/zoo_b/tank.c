#include "tank.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#define NUM double
#define REALS TankReals
#define ROOT root_real
#define EQUATIONS equations_real
#include "tank_equations.h"
#undef NUM
#undef REALS
#undef ROOT
#undef EQUATIONS

#define NUM double complex
typedef struct {
#include "tank_reals.h"
} TankComplex;
#define REALS TankComplex
#define ROOT root_complex
#define EQUATIONS equations_complex
#include "tank_equations.h"
#undef NUM

#define SHIFT 1e-6
#define CLOSE 1e-9
#define TINY(t) (1e-11 * (1.0 + fabs(t)))

#define AT(member) offsetof(Tank, member)
#define R(vr, member, role, start) {REAL, vr, AT(r.member), role, start, "", 0}
#define N(vr, member, role, start) {INTEGER, vr, AT(member), role, start, "", 0}
#define E(vr, member, role, start, n) {INTEGER, vr, AT(member), (role) | CHOICE, start, "", n}
#define B(vr, member, role, start) {BOOLEAN, vr, AT(member), role, start, "", 0}
#define S(vr, member, role, text) {STRING, vr, AT(member), role, 0, text, 0}
#define FIXED (PARAMETER | EXACT)
#define TUNED (PARAMETER | TUNABLE | EXACT)

static const Variable VARIABLES[] = {
    R(100, time, TIME, 0),
    R(101, area1, FIXED, 1.0),
    R(102, area2, FIXED, 0.8),
    R(103, k_valve, FIXED, 0.6),
    R(104, k_drain, FIXED, 0.25),
    R(105, k_leak, FIXED, 0.15),
    R(106, k_over, FIXED, 0.2),
    R(107, q_max, FIXED, 0.5),
    R(108, lag, FIXED, 0.7),
    R(109, h_over, FIXED, 1.6),
    R(110, h_low, FIXED, 0.9),
    R(111, h_high, FIXED, 1.3),
    R(112, v_pulse, FIXED, 0.3),
    R(113, period, FIXED, 0.4),
    R(114, t_leak, FIXED, 14.1),
    R(115, rain_amp, FIXED, 0.02),
    R(116, rain_omega, FIXED, 0.7),
    R(117, gain_set, FIXED, 100.0),
    R(118, w_start, FIXED, 0.4),
    R(119, kp, TUNED, 0.9),
    R(120, ti, FIXED, 2.5),
    R(121, manual, TUNED, 0.4),
    R(130, volume_max, CALCULATED | UNKNOWN, 0),
    R(131, ki, CALCULATED | TUNABLE | UNKNOWN, 0),
    R(140, u_valve, INPUT, 0.5),
    R(141, u_inflow, INPUT, 0.0),
    R(142, setpoint, INPUT | DISCRETE, 1.2),
    R(150, h1, STATE | LOCAL | EXACT, 1.0),
    R(151, h2, STATE | OUTPUT | EXACT, 0.8),
    R(152, w, STATE | LOCAL | UNKNOWN, 0),
    R(153, vol, STATE | LOCAL | EXACT, 0.0),
    R(160, der_h1, LOCAL | UNKNOWN, 0),
    R(161, der_h2, LOCAL | UNKNOWN, 0),
    R(162, der_w, LOCAL | UNKNOWN, 0),
    R(163, der_vol, LOCAL | UNKNOWN, 0),
    R(170, q_valve, OUTPUT | UNKNOWN, 0),
    R(171, q_over, OUTPUT | UNKNOWN, 0),
    R(172, power, OUTPUT | UNKNOWN, 0),
    R(173, stored, OUTPUT | UNKNOWN, 0),
    R(174, rain, OUTPUT | UNKNOWN, 0),
    R(175, command, OUTPUT | DISCRETE | UNKNOWN, 0),
    R(176, set_scaled, OUTPUT | DISCRETE | UNKNOWN, 0),
    R(180, q_drain, LOCAL, 0),
    R(181, integral, LOCAL | DISCRETE, 0),
    R(182, gravity, CONSTANT, 9.81),
    N(200, boost_max, FIXED, 3),
    N(201, alarm_delay, TUNED, 1),
    N(202, pulse_ml, CALCULATED | UNKNOWN, 0),
    N(203, u_boost, INPUT | DISCRETE, 0),
    N(204, pulses, OUTPUT | DISCRETE | EXACT, 0),
    N(205, samples, LOCAL | DISCRETE, 0),
    N(206, events, LOCAL | DISCRETE, 0),
    E(207, fluid, FIXED, 1, 3),
    E(208, mode, TUNED, 3, 3),
    E(209, regime, OUTPUT | DISCRETE | UNKNOWN, 0, 4),
    B(300, has_rain, FIXED, 1),
    B(301, mute, TUNED, 0),
    B(302, u_enable, INPUT | DISCRETE, 1),
    B(303, alarm_on, OUTPUT | DISCRETE | UNKNOWN, 0),
    B(304, overflow, LOCAL | DISCRETE, 0),
    B(305, running, OUTPUT | DISCRETE | UNKNOWN, 0),
    B(306, leaking, LOCAL | DISCRETE, 0),
    S(400, label, FIXED, "TP-01"),
    S(401, operator_name, TUNED, "anna"),
    S(402, u_tag, INPUT | DISCRETE, "-"),
    S(403, alarm, OUTPUT | DISCRETE | UNKNOWN, ""),
    S(404, last_event, LOCAL | DISCRETE, ""),
    S(405, revision, CONSTANT, "rev C"),
};

static const size_t STATES[] = {AT(r.h1), AT(r.h2), AT(r.w), AT(r.vol)};
static const size_t DERIVATIVES[] = {AT(r.der_h1), AT(r.der_h2), AT(r.der_w), AT(r.der_vol)};

static void tank_texts(Tank *k) {
    const char *word = k->low_samples > k->alarm_delay ? "LOW" : k->high ? "HIGH" : NULL;
    k->alarm_on = word != NULL;
    if (!word)
        snprintf(k->alarm, TEXT_LENGTH, "OK");
    else if (k->mute)
        snprintf(k->alarm, TEXT_LENGTH, "muted");
    else
        snprintf(k->alarm, TEXT_LENGTH, "%s %.60s (%.60s)", word, k->label, k->operator_name);
    k->regime = k->leaking ? 4 : k->overflow ? 3 : k->low ? 2 : 1;
}

static void tank_evaluate(Unit *u) {
    Tank *k = u->data;
    equations_real(&k->r, k, u->type == fmi2CoSimulation, u->core.mode == INITIALIZING, u->core.mode == EVENT);
    k->running = k->u_enable && k->mode != 1;
    k->pulse_ml = (int)lround(1000.0 * k->r.v_pulse);
    if (BUG(alarm_without_event) && u->core.mode == CONTINUOUS)
        snprintf(k->alarm, TEXT_LENGTH, "%s", k->r.h2 < k->r.h_low ? "LOW" : "OK");
    if (BUG(running_without_event) && u->core.mode == CONTINUOUS) k->pulses = (int)(k->r.vol * 20.0);
    if (BUG(settime_accumulates)) k->r.rain += 0.05 * k->path;
    if (BUG(settime_stale) || BUG(states_stale)) {
        if (!k->cached || u->core.mode != CONTINUOUS) {
            k->cache_rain = k->r.rain;
            k->cache_h2 = k->r.der_h2;
            k->cached = 1;
        }
        if (BUG(settime_stale)) k->r.rain = k->cache_rain;
        if (BUG(states_stale)) k->r.der_h2 = k->cache_h2;
    }
    if (BUG(ki_stale) && u->core.mode != INITIALIZING)
        k->r.ki = k->kept;
    else if (BUG(ki_stale))
        k->kept = k->r.ki;
}

static void tank_initialize(Unit *u) {
    Tank *k = u->data;
    k->overflow = k->r.h1 > k->r.h_over;
    k->low = k->r.h2 <= k->r.h_low;
    k->high = k->r.h2 > k->r.h_high;
    k->leaking = 0;
    k->low_samples = 0;
    k->samples = 0;
    k->events = 0;
    k->r.integral = 0.0;
    k->sample_count = 1;
    k->path = 0.0;
    k->next_sample = u->core.start + fmax(k->r.period, 1e-3);
    k->next_leak = k->r.t_leak;
    snprintf(k->last_event, TEXT_LENGTH, "start");
    tank_evaluate(u);
    tank_texts(k);
}

static double gap(double z, int above) { return z + (above ? SHIFT : -SHIFT); }

/* the new side of a level; an event that comes a rounding error too early counts */
static int above(double z, int now) { return gap(z, now) > (now ? CLOSE : -CLOSE); }

static void tank_indicators(Unit *u, double *z) {
    Tank *k = u->data;
    z[0] = gap(k->r.h1 - k->r.h_over, k->overflow);
    z[1] = gap(k->r.h2 - k->r.h_low, !k->low);
    z[2] = gap(k->r.h2 - k->r.h_high, k->high);
    z[3] = (k->r.v_pulse - k->r.vol) / k->r.v_pulse;
    if (BUG(indicator_missing)) z[3] = 1.0;
    if (BUG(indicator_missing_low)) z[1] = 1.0;
    if (u->type != fmi2ModelExchange) return;
    if (BUG(indicator_zero) && k->overflow && z[0] < 1e-4 && z[0] > 0.0) z[0] = 0.0;
    if (BUG(indicator_zero_after_event) && k->leaking) z[1] = 0.0;
    if (BUG(indicator_nan)) z[2] = k->leaking ? NAN : z[2];
    if (BUG(indicator_infinite)) z[2] = 1.0 / (k->leaking ? 0.0 : k->r.h2);
}

static void controller(Tank *k) {
    int boost = k->u_boost < k->boost_max ? k->u_boost : k->boost_max;
    double error = k->r.setpoint + 0.01 * boost - k->r.h2;
    static double shared_integral;
    double *integral = BUG(shared_integral) ? &shared_integral : &k->r.integral;
    if (!k->u_enable || k->mode == 1)
        k->r.command = 0.0;
    else if (k->mode == 2)
        k->r.command = k->r.manual;
    else {
        *integral = fmin(1.0, fmax(0.0, *integral + k->r.kp / k->r.ti * k->r.period * error));
        k->r.command = fmin(1.0, fmax(0.0, k->r.kp * error + *integral));
        k->r.integral = *integral;
    }
}

static void tank_event(Unit *u, fmi2EventInfo *info) {
    Tank *k = u->data;
    double t = k->r.time;
    double step = BUG(cs_sample_by_step) && u->type == fmi2CoSimulation ? 1e9 : 0.0;
    int happened = 0;
    if (t >= k->next_sample + step - TINY(t)) {
        controller(k);
        k->samples++;
        k->sample_count += 1.0;
        k->next_sample = u->core.start + k->sample_count * fmax(k->r.period, 1e-3);
        k->low_samples = k->low ? k->low_samples + 1 : 0;
        happened = 1;
    }
    if (!k->leaking && t >= k->next_leak - TINY(t) && !BUG(leak_without_event)) {
        k->leaking = 1;
        snprintf(k->last_event, TEXT_LENGTH, "leak %.80s", k->u_tag);
        happened = 1;
    }
    int overflow = above(k->r.h1 - k->r.h_over, k->overflow);
    int low = !above(k->r.h2 - k->r.h_low, !k->low);
    int high = above(k->r.h2 - k->r.h_high, k->high);
    if (overflow != k->overflow || low != k->low || high != k->high) {
        snprintf(k->last_event, TEXT_LENGTH, "level %d%d%d %.80s", overflow, low, high, k->u_tag);
        k->overflow = overflow;
        k->low = low;
        k->high = high;
        happened = 1;
    }
    if (k->r.v_pulse > 0.0 && k->r.vol >= k->r.v_pulse * (1.0 - CLOSE)) {
        k->r.vol -= k->r.v_pulse;
        k->pulses++;
        info->valuesOfContinuousStatesChanged = 1;
        snprintf(k->last_event, TEXT_LENGTH, "pulse %d %.80s", k->pulses, k->u_tag);
        happened = 1;
    }
    if (happened) {
        k->events++;
        if (BUG(memory_events)) memset(malloc(400000), 1, 400000);
    }
    tank_texts(k);
    info->newDiscreteStatesNeeded = happened;
    info->nextEventTimeDefined = 1;
    info->nextEventTime = k->leaking || BUG(leak_without_event) ? k->next_sample : fmin(k->next_sample, k->next_leak);
    if (BUG(me_no_time_events) && u->type == fmi2ModelExchange) info->nextEventTimeDefined = 0;
    if (step > 0.0) info->nextEventTimeDefined = 0;
    if (u->type == fmi2ModelExchange && k->leaking) {
        if (BUG(next_event_past)) info->nextEventTime = k->r.t_leak;
        if (BUG(next_event_nan)) info->nextEventTime = NAN;
    }
    if (happened) say(u, fmi2OK, "logEvents", "event at %g: %s", t, k->last_event);
}

static void tank_nominals(Unit *u, double *x) {
    Tank *k = u->data;
    x[0] = x[1] = x[2] = 1.0;
    x[3] = 0.1;
    if (BUG(nominal_zero)) x[3] = 0.0;
    if (BUG(nominal_negative)) x[1] = -1.0;
    if (BUG(nominal_unannounced)) x[3] = k->leaking ? 25.0 : 0.1;
}

/* Exact directional derivatives: one evaluation with an imaginary step along the seed. */
static int tank_differentiate(Unit *u, const unsigned *unknown, size_t nu, const unsigned *known, size_t nk,
                              const double *seed, double *result) {
    static double sum[64];
    const double tiny = 1e-40;
    Tank *k = u->data;
    TankComplex c;
    double complex *to = (double complex *)&c;
    const double *from = (const double *)&k->r;
    int cs = u->type == fmi2CoSimulation;
    static Tank old;
    static int have_old;
    if (BUG(dd_stale) && have_old) from = (const double *)&old.r;
    for (size_t i = 0; i < sizeof(TankReals) / sizeof(double); i++) to[i] = from[i];
    if (BUG(dd_stale) && k->r.time > 1.0 && !have_old) {
        old = *k;
        have_old = 1;
    }
    for (size_t i = 0; i < nk; i++) {
        const Variable *v = find(u, REAL, known[i]);
        double s = seed[i];
        if (BUG(dd_unit_seed)) s = 1.0;
        if (BUG(dd_first_known) && i) s = 0.0;
        if (BUG(dd_abs_seed)) s = fabs(s);
        if (BUG(dd_no_time) && v->role & TIME) s = 0.0;
        to[v->at / sizeof(double)] += I * tiny * s;
    }
    equations_complex(&c, k, cs, u->core.mode == INITIALIZING, u->core.mode == EVENT);
    for (size_t i = 0; i < nu; i++) {
        const Variable *v = find(u, REAL, unknown[i]);
        double d = cimag(to[v->at / sizeof(double)]) / tiny;
        if (BUG(dd_sign) && v->vr == 160) d = -d;
        if (BUG(dd_late) && k->leaking && v->vr == 161) d *= 0.5;
        if (BUG(dd_initial_zero) && u->core.mode == INITIALIZING) d = 0.0;
        if (BUG(dd_accumulates)) d = sum[i % 64] = sum[i % 64] * 0.5 + d;
        if (BUG(dd_adds)) d += result[i];
        result[(BUG(dd_reversed) ? nu - 1 - i : i)] = d;
    }
    if (BUG(dd_disturbs) && nk && known[0] == 150) k->r.h1 += 1e-5;
    return 1;
}

const Model TANK = {
    sizeof(Tank),
    VARIABLES,
    sizeof VARIABLES / sizeof VARIABLES[0],
    4,
    4,
    STATES,
    DERIVATIVES,
    0.01,
    tank_initialize,
    tank_evaluate,
    tank_indicators,
    tank_event,
    tank_nominals,
    NULL,
    tank_differentiate,
};
