/* The two tanks: a pump fills tank 1, a valve leads to tank 2, a flow meter sits in its drain. */
#ifndef TANK_H
#define TANK_H

#include "unit.h"

typedef struct {
#define NUM double
#include "tank_reals.h"
#undef NUM
} TankReals;

typedef struct {
    TankReals r;
    /* integers and enumerations */
    int boost_max, alarm_delay, pulse_ml, u_boost, fluid, mode, pulses, samples, events, regime;
    /* booleans */
    int has_rain, mute, u_enable, alarm_on, overflow, running, leaking;
    /* strings */
    char label[TEXT_LENGTH], operator_name[TEXT_LENGTH], u_tag[TEXT_LENGTH], alarm[TEXT_LENGTH],
        last_event[TEXT_LENGTH], revision[TEXT_LENGTH];
    /* hidden */
    int low, high, low_samples, initial;
    double sample_count, next_sample, next_leak;
    double kept, path;
    double cache_h2, cache_rain;
    int cached;
} Tank;

#endif
