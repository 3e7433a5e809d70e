/* A mechanism as the runtime needs it: sizes, a table of variables, and pure functions. Generated code defines the
 * constant `model`.
 *
 * Vectors: x continuous states, d discrete states, u inputs, p parameters, y outputs, g guards, r requirements. Every
 * function takes a work array of model.work numbers as its last argument and keeps nothing between calls. */
#ifndef MECHFMU_MODEL_H
#define MECHFMU_MODEL_H

#include <stddef.h>

typedef enum { PARAMETER, CONSTANT, INPUT, STATE, DISCRETE, OUTPUT, DERIVATIVE } Role; /* constants are in p as well */
typedef enum { REAL, INTEGER, BOOLEAN } Kind;

/* A row of the table: `count` variables with successive value references and successive indices in their vector. */
typedef struct {
    Role role;
    Kind kind;
    unsigned reference; /* of the first */
    unsigned count;
    size_t index;           /* of the first, in the vector of its role */
    double above, min, max; /* limits; above is exclusive; infinite where there is none */
    const char *before;     /* the name is `before`, or `before`, number, `after` */
    const char *after;
    const char *unit; /* with a space in front, or empty */
} Row;

/* The log message of a guard's event; text NULL: none. `stop`: the simulation ends there. `only_at_start`: only when
 * the guard is not positive at the end of initialization. */
typedef struct {
    const char *text;
    int stop, only_at_start;
} Note;

#define POINT const double *t, const double *x, const double *d, const double *u, const double *p
typedef void Function(POINT, double *restrict out, double *restrict w);
typedef void Jump(POINT, double *restrict x_new, double *restrict d_new, double *restrict w);
typedef void Tangent(POINT, const double *t_dot, const double *x_dot, const double *d_dot, const double *u_dot,
                     const double *p_dot, double *restrict dx_dot, double *restrict y_dot, double *restrict w);
typedef void InitialTangent(POINT, const double *p_dot, double *restrict x_dot, double *restrict d_dot,
                            double *restrict w);

typedef struct {
    const char *guid;
    size_t nx, nd, nu, np, ny, ng, nr;
    size_t work;
    const Row *rows;
    size_t n_rows;
    unsigned n_variables;
    const double *u_start, *p_start, *x_nominal;
    const char *const *requirement_texts;
    const unsigned char *cautions;                        /* one for each requirement: whether it is only a warning */
    size_t tolerance_index, max_step_index, method_index; /* the solver's parameters, in p */
    int projects;                                         /* project is not the identity */
    Jump *initial;
    Function *rates, *outputs, *guards, *project, *requirements;
    Jump *const *jumps;
    const Note *notes; /* one for each guard */
    Tangent *tangent;
    InitialTangent *initial_tangent;
} Model;

extern const Model model;

#endif
