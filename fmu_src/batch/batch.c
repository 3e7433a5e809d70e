/* Many instances stepped together. Each is an instance of the native runtime with its own step sizes and events; what
 * the solvers need next (solver.h) is calculated for several at once, in SIMD lanes, whoever they are. */
#include "batch.h"

#include "explicit_step.h"
#include "instance.h"
#include "lanes.h"
#include "steps.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NEEDS = GUARDS_IN_STEP + 1, IDLE = -1 }; /* idle: there is no run for the slot */
enum { MOST_LANES = 8 };

typedef struct {
    Batch *batch;
    Instance *instance;
    fmi2CallbackFunctions callbacks;
    int need;                     /* nothing: it is at a communication point */
    size_t run, point;            /* of a rollout */
    double t;                     /* the next step is to begin there, up to rounding */
    fmi2Status status;            /* of the last call */
    char message[MESSAGE_LENGTH]; /* the last one */
    char warning[MESSAGE_LENGTH]; /* the first one */
} Slot;

/* Variables to be recorded, and where each is: in a vector of the instance, or for outputs in the lanes. */
typedef struct {
    size_t n;
    struct {
        Role role;
        size_t offset;
    } *places;
    int has_outputs, has_derivatives;
} Recorded;

/* Slots that need the same calculation, first in, first out. */
typedef struct {
    size_t *slots, first, count;
} Queue;

struct Batch {
    size_t count;
    Slot *slots;
    Lanes lanes;
    Queue queues[NEEDS];
    Slot *p_group[MOST_LANES]; /* whose parameters are in the lanes */
    const Rollout *rollout;    /* NULL: single steps */
    Recorded recorded;         /* by it */
};

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Keeps a message of the runtime, which is a format with doubled percent signs. */
static void keep_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                         fmi2String message, ...) {
    Slot *slot = environment;
    char *target = slot->message;
    (void)name;
    (void)category;
    for (size_t i = 0; *message && i + 1 < MESSAGE_LENGTH; i++, message++) {
        if (message[0] == '%' && message[1] == '%') message++;
        *target++ = *message;
    }
    *target = '\0';
    if (status == fmi2Warning && !*slot->warning) memcpy(slot->warning, slot->message, MESSAGE_LENGTH);
}

size_t batch_width(void) { return lanes_width(); }

Batch *batch_new(size_t count) {
    Batch *batch = calloc(1, sizeof *batch);
    if (!batch) return NULL;
    batch->count = count;
    batch->slots = calloc(count, sizeof *batch->slots);
    int complete = lanes_init(&batch->lanes) && batch->slots != NULL;
    for (int need = 0; need < NEEDS; need++) {
        batch->queues[need].slots = calloc(count, sizeof(size_t));
        complete &= batch->queues[need].slots != NULL;
    }
    for (size_t i = 0; complete && i < count; i++) {
        Slot *slot = &batch->slots[i];
        slot->batch = batch;
        slot->callbacks = (fmi2CallbackFunctions){keep_message, NULL, NULL, NULL, slot};
        slot->instance = fmi2Instantiate("run", fmi2CoSimulation, model.guid, NULL, &slot->callbacks, 0, 1);
        complete = slot->instance != NULL;
    }
    if (complete) return batch;
    batch_free(batch);
    return NULL;
}

void batch_free(Batch *batch) {
    if (!batch) return;
    for (size_t i = 0; batch->slots && i < batch->count; i++) fmi2FreeInstance(batch->slots[i].instance);
    for (int need = 0; need < NEEDS; need++) free(batch->queues[need].slots);
    free(batch->slots);
    lanes_release(&batch->lanes);
    free(batch);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static const Row *row_of(fmi2ValueReference reference) {
    size_t low = 0, high = model.n_rows;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (model.rows[middle].reference <= reference)
            low = middle;
        else
            high = middle;
    }
    return &model.rows[low];
}

/* Sets a value of any kind; 0: it is not allowed. */
static int set_value(Slot *slot, fmi2ValueReference reference, double value) {
    const fmi2Integer whole = (fmi2Integer)(fabs(value) < 1e9 ? value : -1e9); /* beyond all limits */
    switch (row_of(reference)->kind) {
    case REAL: slot->status = fmi2SetReal(slot->instance, &reference, 1, &value); break;
    case INTEGER: slot->status = fmi2SetInteger(slot->instance, &reference, 1, &whole); break;
    case BOOLEAN: slot->status = fmi2SetBoolean(slot->instance, &reference, 1, &whole); break;
    }
    return slot->status <= fmi2Warning;
}

/* 0: there is not enough memory. */
static int recorded_init(Recorded *self, const fmi2ValueReference *references, size_t n) {
    *self = (Recorded){.n = n, .places = calloc(n + 1, sizeof *self->places)};
    for (size_t i = 0; self->places && i < n; i++) {
        const Row *row = row_of(references[i]);
        const size_t index = row->index + (references[i] - row->reference);
        self->places[i].role = row->role;
        self->places[i].offset = row->role == OUTPUT ? index * lanes_width() : index;
        self->has_outputs |= row->role == OUTPUT;
        self->has_derivatives |= row->role == DERIVATIVE;
    }
    return self->places != NULL;
}

/* The values of an instance, whose outputs are in lane l. */
static void get_values(const Recorded *recorded, Instance *instance, const Lanes *lanes, size_t l, double *values) {
    const double *vectors[] = {[PARAMETER] = instance->p, [INPUT] = instance->u,   [STATE] = instance->x,
                               [DISCRETE] = instance->d,  [OUTPUT] = lanes->y + l, [DERIVATIVE] = instance->dx};
    if (recorded->has_derivatives) instance_rates(instance);
    for (size_t i = 0; i < recorded->n; i++) values[i] = vectors[recorded->places[i].role][recorded->places[i].offset];
}

/* --- calculations in lanes ---------------------------------------------------------------------------------------- */

static void enqueue(Batch *batch, const Slot *slot) {
    if (slot->need == IDLE) return;
    Queue *queue = &batch->queues[slot->need];
    queue->slots[(queue->first + queue->count++) % batch->count] = (size_t)(slot - batch->slots);
}

/* Slots with the same need, as many as there are lanes or fewer, of the need that most have; 0: there are none. */
static size_t take_group(Batch *batch, Slot **group) {
    int best = NOTHING;
    for (int k = NOTHING; k < NEEDS; k++)
        if (batch->queues[k].count > batch->queues[best].count) best = k;
    Queue *queue = &batch->queues[best];
    size_t n = 0;
    for (; n < batch->lanes.width && queue->count; n++, queue->count--) {
        group[n] = &batch->slots[queue->slots[queue->first]];
        queue->first = (queue->first + 1) % batch->count;
    }
    return n;
}

/* Whether a group is complete and its slots have the same need again. */
static int stays_together(const Batch *batch, Slot *const *group, size_t n) {
    for (size_t l = 1; l < n; l++)
        if (group[l]->need != group[0]->need) return 0;
    return n == batch->lanes.width && group[0]->need != IDLE;
}

/* Vectors of a group of n slots, by the expression for one; lanes without a slot repeat the last one. */
#define GATHER(target, size, expression) \
    if ((size) > 0) do { \
            const double *sources[MOST_LANES]; \
            for (size_t l = 0; l < lanes->width; l++) { \
                Instance *instance = group[l < n ? l : n - 1]->instance; \
                Solver *solver = instance->solver; \
                (void)solver; \
                sources[l] = (expression); \
            } \
            lanes_gather(lanes->target, size, sources); \
    } while (0)

#define SCATTER(source, size, expression) \
    if ((size) > 0) do { \
            double *targets[MOST_LANES]; \
            for (size_t l = 0; l < n; l++) { \
                Instance *instance = group[l]->instance; \
                Solver *solver = instance->solver; \
                (void)solver; \
                targets[l] = (expression); \
            } \
            lanes_scatter(source, size, n, targets); \
    } while (0)

/* Inputs and parameters; the latter are there already when the group is the last one. */
static void gather_constants(Batch *batch, Slot **group, size_t n) {
    Lanes *lanes = &batch->lanes;
    int same = 1;
    GATHER(u, model.nu, instance->u);
    for (size_t l = 0; l < n; l++) same &= batch->p_group[l] == group[l];
    if (same) return;
    GATHER(p, model.np, instance->p);
    for (size_t l = 0; l < MOST_LANES; l++) batch->p_group[l] = l < n ? group[l] : NULL;
}

static void calculate_step(Lanes *lanes, Slot **group, size_t n, Need need) {
    for (size_t l = 0; l < lanes->width; l++) {
        const Instance *instance = group[l < n ? l : n - 1]->instance;
        lanes->h[l] = instance->solver->step.h;
        lanes->tolerance[l] = instance->options.relative_tolerance;
    }
    GATHER(slope, model.nx, solver->step.slope);
    if (need == SHORT_STEP)
        lanes_short_step(lanes);
    else if (need == LONG_STEP)
        lanes_long_step(lanes);
    else
        lanes_explicit_step(lanes);
    const int end = need == SHORT_STEP ? SHORT_END : EXPLICIT_END;
    SCATTER(lanes->x_new, model.nx, solver->step.x_new);
    SCATTER(lanes_stage(lanes, end), model.nx, solver->step.k[end]);
    for (size_t l = 0; l < n; l++) {
        Solver *solver = group[l]->instance->solver;
        solver->error = lanes->error[l];
        if (need == EXPLICIT_STEP) solver->stiffness = lanes->stiffness[l];
    }
    for (int row = 0; need == LONG_STEP && row < DENSE_ROWS; row++)
        SCATTER(lanes_dense(lanes, row), model.nx, solver->step.dense[row]);
}

/* What all slots of a group need. */
static void calculate(Batch *batch, Slot **group, size_t n, int need) {
    Lanes *lanes = &batch->lanes;
    for (size_t l = 0; l < lanes->width; l++) lanes->t[l] = group[l < n ? l : n - 1]->instance->solver->step.t;
    GATHER(x, model.nx, solver->step.x);
    GATHER(d, model.nd, instance->d_step);
    gather_constants(batch, group, n);
    switch (need) {
    case SLOPE:
        lanes_rates(lanes);
        SCATTER(lanes->dx, model.nx, solver->step.slope);
        break;
    case GUARDS_AT_START:
    case GUARDS_AT_END:
        lanes_guards(lanes);
        SCATTER(lanes->g, model.ng, solver->g_trial);
        break;
    default: calculate_step(lanes, group, n, (Need)need);
    }
}

/* Whether a guard that is positive at some point of the step is not at the next one. */
static int may_cross_zero(const Solver *s) {
    for (size_t k = 0; k < s->n_guards; k++) {
        double before = s->g_old[k];
        for (int sample = 0; sample < s->samples; sample++) {
            const double now = s->g_samples[(size_t)sample * s->n_guards + k];
            if (before > 0 && now <= 0) return 1;
            before = now;
        }
    }
    return 0;
}

/* The guards in the step that the group has just made, of those slots that need them. Where a guard crosses zero the
 * event is then located without lanes, from the slopes of the step. */
static void calculate_guards(Lanes *lanes, Slot **group, size_t n, const Need *needs) {
    int samples[MOST_LANES];
    int any = 0;
    for (size_t l = 0; l < lanes->width; l++) {
        const int needed = l < n && needs[l] == GUARDS_IN_STEP;
        samples[l] = needed ? group[l]->instance->solver->samples : 1;
        any |= needed;
    }
    if (!any) return;
    lanes_guards_in_step(lanes, samples);
    SCATTER(lanes->g, EVENT_SAMPLES_PER_STEP * model.ng, solver->g_samples);
    any = 0;
    for (size_t l = 0; l < n; l++) any |= needs[l] == GUARDS_IN_STEP && may_cross_zero(group[l]->instance->solver);
    for (int k = 0; any && k < EXPLICIT_END; k++) SCATTER(lanes_stage(lanes, k), model.nx, solver->step.k[k]);
}

/* The outputs at the present points, into the lanes. */
static void calculate_outputs(Batch *batch, Slot **group, size_t n) {
    Lanes *lanes = &batch->lanes;
    for (size_t l = 0; l < lanes->width; l++) lanes->t[l] = group[l < n ? l : n - 1]->instance->state->t;
    GATHER(x, model.nx, instance->x);
    GATHER(d, model.nd, instance->d);
    gather_constants(batch, group, n);
    lanes_outputs(lanes);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static int succeeded(const Slot *slot) { return slot->status <= fmi2Warning; }

/* Takes note of what the slot's step needs, or ends the step. */
static void go_on(Slot *slot, Need need) {
    while (need == IMPLICIT_STEP) {
        instance_calculate(slot->instance, need);
        need = instance_step_continue(slot->instance, need);
    }
    if (need == NOTHING) {
        instance_step_end(slot->instance);
        slot->status = report_step(slot->instance);
    }
    slot->need = (int)need;
}

/* A step from t to t_end, as a host that gives FMI the time and the size of the step. */
static void begin_step(Slot *slot, double t, double t_end) {
    slot->t = t_end;
    go_on(slot, instance_step_begin(slot->instance, t + (t_end - t)));
}

/* Does what the slots of a group need, and then what they need before their next step. */
static void continue_steps(Batch *batch, Slot **group, size_t n) {
    Need needs[MOST_LANES];
    const int need = group[0]->need;
    if (need == GUARDS_IN_STEP) { /* after an implicit step */
        for (size_t l = 0; l < n; l++) {
            instance_calculate(group[l]->instance, GUARDS_IN_STEP);
            needs[l] = GUARDS_IN_STEP;
        }
    } else {
        calculate(batch, group, n, need);
        for (size_t l = 0; l < n; l++) needs[l] = instance_step_continue(group[l]->instance, (Need)need);
        if (need == EXPLICIT_STEP || need == SHORT_STEP) calculate_guards(&batch->lanes, group, n, needs);
    }
    for (size_t l = 0; l < n; l++) {
        if (needs[l] == GUARDS_IN_STEP) needs[l] = instance_step_continue(group[l]->instance, GUARDS_IN_STEP);
        go_on(group[l], needs[l]);
    }
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static int set_inputs(Slot *slot) {
    const Rollout *r = slot->batch->rollout;
    for (size_t i = 0; i < r->n_inputs; i++) {
        const size_t place = slot->run * r->input_run_strides[i] + slot->point * r->input_point_strides[i];
        if (!set_value(slot, r->inputs[i], r->input_values[i][place])) return 0;
    }
    return 1;
}

static void end_run(Slot *slot) {
    const Rollout *r = slot->batch->rollout;
    if (!succeeded(slot)) memcpy(r->messages + slot->run * MESSAGE_LENGTH, slot->message, MESSAGE_LENGTH);
    for (size_t i = slot->point * r->n_outputs; i < r->n_points * r->n_outputs; i++)
        r->results[slot->run * r->n_points * r->n_outputs + i] = NAN; /* not reached */
    if (*slot->warning) memcpy(r->warnings + slot->run * MESSAGE_LENGTH, slot->warning, MESSAGE_LENGTH);
    __atomic_fetch_add(r->finished, 1, __ATOMIC_RELAXED);
}

/* Makes the slot begin the next run that can begin, if there is one. */
static void begin_run(Slot *slot) {
    const Rollout *r = slot->batch->rollout;
    for (;;) {
        slot->run = *r->cancelled ? r->n_runs : __atomic_fetch_add(r->next, 1, __ATOMIC_RELAXED);
        slot->point = 0;
        slot->need = IDLE;
        if (slot->run >= r->n_runs) return;
        const size_t i = (size_t)(slot - slot->batch->slots);
        if (batch_start(slot->batch, i, r->tolerance, r->n_set, r->set, r->values + slot->run * r->n_set)) {
            slot->need = NOTHING;
            return;
        }
        end_run(slot);
    }
}

/* Begins the next step, or the next run. */
static void leave_point(Slot *slot) {
    const Rollout *r = slot->batch->rollout;
    if (++slot->point < r->n_points) {
        begin_step(slot, r->t[slot->point - 1], r->t[slot->point]);
    } else {
        end_run(slot);
        begin_run(slot);
    }
}

/* The slots of a group are at communication points: records their values there. */
static void record_group(Batch *batch, Slot **group, size_t n) {
    const Rollout *r = batch->rollout;
    Slot *arrived[MOST_LANES];
    size_t count = 0;
    for (size_t l = 0; l < n; l++) {
        Slot *slot = group[l];
        if (succeeded(slot) && !*r->cancelled && (slot->point == 0 || set_inputs(slot))) {
            arrived[count++] = slot;
        } else {
            end_run(slot);
            begin_run(slot);
        }
    }
    if (count && batch->recorded.has_outputs) calculate_outputs(batch, arrived, count);
    for (size_t l = 0; l < count; l++) {
        double *values = r->results + (arrived[l]->run * r->n_points + arrived[l]->point) * r->n_outputs;
        get_values(&batch->recorded, arrived[l]->instance, &batch->lanes, l, values);
        leave_point(arrived[l]);
    }
}

/* --- the interface ------------------------------------------------------------------------------------------------ */

int batch_start(Batch *batch, size_t i, double tolerance, size_t n, const fmi2ValueReference *references,
                const double *values) {
    Slot *slot = &batch->slots[i];
    Instance *c = slot->instance;
    *slot->message = *slot->warning = '\0';
    slot->t = 0;
    slot->status = fmi2Reset(c);
    batch->p_group[0] = NULL;
    for (size_t k = 0; k < n && succeeded(slot); k++) set_value(slot, references[k], values[k]);
    if (succeeded(slot) && batch->rollout) set_inputs(slot);
    if (succeeded(slot)) slot->status = fmi2SetupExperiment(c, tolerance > 0, tolerance, 0, fmi2False, 0);
    if (succeeded(slot)) slot->status = fmi2EnterInitializationMode(c);
    if (succeeded(slot)) slot->status = fmi2ExitInitializationMode(c);
    return succeeded(slot);
}

int batch_rollout(Batch *batch, const Rollout *rollout) {
    Slot *group[MOST_LANES];
    if (!recorded_init(&batch->recorded, rollout->outputs, rollout->n_outputs)) return 0;
    batch->rollout = rollout;
    for (size_t i = 0; i < batch->count; i++) {
        begin_run(&batch->slots[i]);
        enqueue(batch, &batch->slots[i]);
    }
    for (size_t n; (n = take_group(batch, group)) > 0;) {
        do {
            if (group[0]->need == NOTHING)
                record_group(batch, group, n);
            else
                continue_steps(batch, group, n);
        } while (stays_together(batch, group, n));
        for (size_t l = 0; l < n; l++) enqueue(batch, group[l]);
    }
    batch->rollout = NULL;
    free(batch->recorded.places);
    return 1;
}

void batch_step(Batch *batch, double h, const unsigned char *wanted) {
    Slot *group[MOST_LANES];
    for (size_t i = 0; i < batch->count; i++) {
        Slot *slot = &batch->slots[i];
        *slot->warning = '\0';
        slot->need = IDLE;
        if (wanted[i] && succeeded(slot)) begin_step(slot, slot->t, slot->t + h);
        enqueue(batch, slot);
    }
    for (size_t n; (n = take_group(batch, group)) > 0;) {
        while (group[0]->need != NOTHING) {
            continue_steps(batch, group, n);
            if (!stays_together(batch, group, n)) break;
        }
        for (size_t l = 0; l < n; l++)
            if (group[l]->need != NOTHING) enqueue(batch, group[l]);
    }
}

void batch_set(Batch *batch, size_t i, size_t n, const fmi2ValueReference *references, const double *values) {
    Slot *slot = &batch->slots[i];
    for (size_t k = 0; k < n && succeeded(slot); k++) set_value(slot, references[k], values[k]);
}

int batch_get(Batch *batch, const unsigned char *wanted, size_t n, const fmi2ValueReference *references,
              double *values) {
    Slot *group[MOST_LANES];
    Recorded recorded;
    size_t count = 0;
    if (!recorded_init(&recorded, references, n)) return 0;
    for (size_t i = 0; i < batch->count; i++) {
        Slot *slot = &batch->slots[i];
        if (wanted[i]) instance_update_start_state(slot->instance);
        if (wanted[i]) group[count++] = slot;
        if (count == 0 || (count < batch->lanes.width && i + 1 < batch->count)) continue;
        if (recorded.has_outputs) calculate_outputs(batch, group, count);
        for (size_t l = 0; l < count; l++)
            get_values(&recorded, group[l]->instance, &batch->lanes, l, values + (size_t)(group[l] - batch->slots) * n);
        count = 0;
    }
    free(recorded.places);
    return 1;
}

const char *batch_error(const Batch *batch, size_t i) {
    return succeeded(&batch->slots[i]) ? "" : batch->slots[i].message;
}

const char *batch_warning(const Batch *batch, size_t i) { return batch->slots[i].warning; }
