/* Log messages to the host. */
#ifndef MECHFMU_MESSAGES_H
#define MECHFMU_MESSAGES_H

#include "component.h"

enum { TEXT = 512 }; /* size of a formatted message */

/* The log categories and their names, as in the model description. */
typedef enum { LOG_WARNING, LOG_DISCARD, LOG_ERROR, LOG_FATAL, LOG_ALL, LOG_CATEGORIES } Category;
extern const char *const CATEGORY_NAMES[LOG_CATEGORIES];

/* Sends a message of that status and returns the status. Errors are always sent. `format` is as for printf, with
 * numbers as number(x).text. `component` is an instance of any kind. */
fmi2Status report(const void *component, fmi2Status status, const char *format, ...);

/* Sends a text of any length, whether its category is logged or not. */
void send_text(const fmi2CallbackFunctions *callbacks, const char *name, fmi2Status status, const char *category,
               const char *text);

/* Sends an error before there is an instance. */
void report_early(const fmi2CallbackFunctions *callbacks, const char *name, const char *text);

/* A number as text with six digits and a decimal point in every locale. */
typedef struct {
    char text[32];
} Number;
Number number(double value);

#endif
