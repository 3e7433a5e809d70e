/* Roles, limits and start values of the variables, by value reference. The description has the same numbers. */
#include "defect.h"
#include "unit.h"

#define BIG 1e9

const volatile char defect_tag[64] = "@defect:none";

const Role REAL_ROLE[REALS] = {
    [TIME] = INDEPENDENT,
    [P_MAX] = FIXED,
    [C_HEATER] = FIXED,
    [C_ROOM] = FIXED,
    [G_HR] = FIXED,
    [G_LOSS] = TUNABLE,
    [BAND] = FIXED,
    [T_COMFORT] = TUNABLE,
    [T_NIGHT] = TUNABLE,
    [DAY] = FIXED,
    [T_SERVICE] = FIXED,
    [W_FELT] = FIXED,
    [T_MAX] = TUNABLE,
    [TAU_ROOM] = CALCULATED,
    [P_REL] = CALCULATED,
    [T_AMB] = INPUT_CONTINUOUS,
    [Q_SUN] = INPUT_CONTINUOUS,
    [PRICE] = INPUT_DISCRETE,
    [X_HEATER] = STATE,
    [X_ROOM] = STATE,
    [X_ENERGY] = STATE,
    [D_HEATER] = LOCAL,
    [D_ROOM] = LOCAL,
    [D_ENERGY] = LOCAL,
    [T_SENSOR] = OUTPUT,
    [T_FELT] = OUTPUT,
    [Q_OUT] = OUTPUT,
    [POWER] = OUTPUT,
    [COST] = OUTPUT,
    [SETPOINT] = LOCAL,
    [C_WATER] = CONSTANT,
    [OFFSET] = FIXED,
    [T_WALL] = GUESS,
};

const double REAL_LIMITS[REALS][2] = {
    [P_MAX] = {1, 1000},    [C_HEATER] = {0.5, 100},  [C_ROOM] = {1, 1000},   [G_HR] = {0.1, 10},
    [G_LOSS] = {0.01, 5},   [BAND] = {0.1, 5},        [T_COMFORT] = {10, 30}, [T_NIGHT] = {5, 30},
    [DAY] = {1, 1e5},       [T_SERVICE] = {0, 1e6},   [W_FELT] = {0, 1},      [T_MAX] = {10, 60},
    [T_AMB] = {-60, 60},    [Q_SUN] = {0, 50},        [PRICE] = {0, 100},     [X_HEATER] = {-100, 500},
    [X_ROOM] = {-100, 300}, [X_ENERGY] = {-BIG, BIG}, [OFFSET] = {-5, 5},     [T_WALL] = {-100, 300},
};

const Role INTEGER_ROLE[INTEGERS] = {
    [STAGES] = FIXED,       [GUESTS] = TUNABLE,  [SEED] = FIXED,      [PERSONS] = INPUT_DISCRETE,
    [SLOTS] = CALCULATED,   [SWITCHES] = OUTPUT, [EVENTS] = LOCAL,    [DAY_NUMBER] = LOCAL,
    [REVISION] = CONSTANT,  [CURVE] = FIXED,     [PROFILE] = TUNABLE, [REQUEST] = INPUT_DISCRETE,
    [STAGE_PHASE] = OUTPUT,
};

const int INTEGER_LIMITS[INTEGERS][2] = {
    [STAGES] = {1, 4},  [GUESTS] = {0, 50},  [SEED] = {-2147483647, 2147483647}, [PERSONS] = {0, 50}, [CURVE] = {1, 3},
    [PROFILE] = {1, 3}, [REQUEST] = {-1, 5},
};

const Role BOOLEAN_ROLE[BOOLEANS] = {
    [ENABLED] = TUNABLE, [HAS_ALARM] = FIXED, [WINDOW] = INPUT_DISCRETE,
    [RELAY] = LOCAL,     [ALARM] = OUTPUT,    [OVERSIZED] = CALCULATED,
};

const Role STRING_ROLE[STRINGS] = {
    [NAME] = FIXED,       [NOTE] = TUNABLE,  [REMARK] = INPUT_DISCRETE,
    [LABEL] = CALCULATED, [STATUS] = OUTPUT, [MAKER] = CONSTANT,
};

const Text CATEGORY[] = {"logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError"};

void start_values(Unit *u) {
    static const double REAL_START[REALS] = {
        [P_MAX] = 20,      [C_HEATER] = 2,  [C_ROOM] = 8,  [G_HR] = 1.5,     [G_LOSS] = 0.5, [BAND] = 1,
        [T_COMFORT] = 21,  [T_NIGHT] = 17,  [DAY] = 20,    [T_SERVICE] = 45, [W_FELT] = 0.7, [T_MAX] = 22.25,
        [T_AMB] = 5,       [Q_SUN] = 0.5,   [PRICE] = 0.3, [X_HEATER] = 20,  [X_ROOM] = 18,  [X_ENERGY] = 0,
        [C_WATER] = 4.186, [OFFSET] = 0.25, [T_WALL] = 15,
    };
    static const int INTEGER_START[INTEGERS] = {
        [STAGES] = 2,  [SEED] = 70001,           [PERSONS] = 1,     [REVISION] = 7, [CURVE] = 1,
        [PROFILE] = 2, [REQUEST] = REQUEST_AUTO, [STAGE_PHASE] = 1,
    };
    static const int BOOLEAN_START[BOOLEANS] = {[ENABLED] = 1, [HAS_ALARM] = 1};
    Plain *p = &u->m.p;
    memset(p, 0, sizeof *p);
    memcpy(p->r, REAL_START, sizeof p->r);
    memcpy(p->i, INTEGER_START, sizeof p->i);
    memcpy(p->b, BOOLEAN_START, sizeof p->b);
    p->phase = INSTANTIATED;
    p->energy_nominal = 100;
    p->random = 1;
    set_text(u, NAME, "room-1");
    set_text(u, NOTE, "none");
    set_text(u, REMARK, "");
    set_text(u, LABEL, "unit room-1");
    set_text(u, STATUS, "");
    set_text(u, MAKER, "zoo");
}
