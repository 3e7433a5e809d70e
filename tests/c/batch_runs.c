/* Runs and single steps of a batch, for sanitizers: inputs that are not finite end some of the runs.
 *
 *     batch_runs RUNS
 */
#include "batch.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 21 };

static size_t has(Role role) {
    for (size_t i = 0; i < model.n_rows; i++)
        if (model.rows[i].role == role) return 1;
    return 0;
}

/* The first variable of a role, or the last one of all. */
static fmi2ValueReference reference_of(Role role) {
    for (size_t i = 0; i < model.n_rows; i++)
        if (model.rows[i].role == role) return model.rows[i].reference;
    return model.n_variables - 1;
}

static void runs(size_t count, size_t slots) {
    const fmi2ValueReference input = reference_of(INPUT), outputs[] = {reference_of(STATE), reference_of(OUTPUT)};
    double t[POINTS], *values = calloc(count * POINTS, sizeof(double)),
                      *results = calloc(count * POINTS * 2, sizeof(double));
    char *messages = calloc(count, MESSAGE_LENGTH), *warnings = calloc(count, MESSAGE_LENGTH);
    const double *courses[] = {values};
    const size_t run_strides[] = {POINTS}, point_strides[] = {1};
    size_t next = 0, finished = 0, failed = 0;
    volatile int cancelled = 0;
    Batch *batch = batch_new(slots);
    if (!values || !results || !messages || !warnings || !batch) exit(2);
    for (size_t i = 0; i < POINTS; i++) t[i] = 0.05 * (double)i;
    for (size_t i = 0; i < count * POINTS; i++)
        values[i] = i % 97 == 96 ? NAN : i % 89 == 88 ? 1e300 : 0.01 * (double)(i % 7);
    const Rollout rollout = {
        count,       POINTS,        t, 0,       0,       NULL,     values,   has(INPUT), &input,    courses,
        run_strides, point_strides, 2, outputs, results, messages, warnings, &next,      &finished, &cancelled};
    if (!batch_rollout(batch, &rollout) || finished != count) exit(2);
    for (size_t i = 0; i < count; i++) failed += messages[i * MESSAGE_LENGTH] != '\0';
    printf("%lu of %lu runs failed\n", (unsigned long)failed, (unsigned long)count);
    batch_free(batch);
    free(values);
    free(results);
    free(messages);
    free(warnings);
}

static void steps(size_t count) {
    const fmi2ValueReference input = reference_of(INPUT), outputs[] = {reference_of(STATE), reference_of(DERIVATIVE)};
    unsigned char *wanted = calloc(count, 1);
    double *results = calloc(2 * count, sizeof(double));
    Batch *batch = batch_new(count);
    if (!wanted || !results || !batch) exit(2);
    for (size_t i = 0; i < count; i++) batch_start(batch, i, 1e-6, 0, NULL, NULL);
    for (int step = 0; step < 20; step++) {
        for (size_t i = 0; i < count; i++) {
            const double value = (i + (size_t)step) % 13 == 12 ? NAN : 0.1 * (double)i;
            wanted[i] = (i + (size_t)step) % 5 != 0;
            batch_set(batch, i, has(INPUT), &input, &value);
            if (*batch_error(batch, i)) batch_start(batch, i, 0, 0, NULL, NULL);
        }
        batch_step(batch, 0.03, wanted);
        if (!batch_get(batch, wanted, 2, outputs, results)) exit(2);
    }
    batch_free(batch);
    free(wanted);
    free(results);
}

int main(int argc, char **argv) {
    const size_t count = argc > 1 ? (size_t)atol(argv[1]) : 10;
    runs(count, 4 * batch_width());
    runs(count, 3); /* fewer than there are lanes */
    steps(11);
    return 0;
}
