#include "messages.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const CATEGORY_NAMES[LOG_CATEGORIES] = {"logStatusWarning", "logStatusDiscard", "logStatusError",
                                                    "logStatusFatal", "logAll"};

static Category category_of(fmi2Status status) {
    switch (status) {
    case fmi2Warning: return LOG_WARNING;
    case fmi2Discard: return LOG_DISCARD;
    case fmi2Error: return LOG_ERROR;
    case fmi2Fatal: return LOG_FATAL;
    default: return LOG_ALL;
    }
}

/* Hosts use a message as a format of printf, so percent signs are doubled. `target` has room for twice the text. */
static void double_percents(char *target, const char *text) {
    for (; *text; text++) {
        *target++ = *text;
        if (*text == '%') *target++ = '%';
    }
    *target = '\0';
}

void send_text(const fmi2CallbackFunctions *callbacks, const char *name, fmi2Status status, const char *category,
               const char *text) {
    if (!callbacks->logger) return;
    char local[2 * TEXT];
    char *format = strlen(text) < TEXT ? local : malloc(2 * strlen(text) + 1);
    if (format) double_percents(format, text);
    callbacks->logger(callbacks->componentEnvironment, name, status, category,
                      format ? format : "there is not enough memory for the message");
    if (format != local) free(format);
}

fmi2Status report(const void *component, fmi2Status status, const char *format, ...) {
    const Component *self = component;
    const Category category = category_of(status);
    if (status >= fmi2Discard || (self->categories & (1u << LOG_ALL | 1u << category))) {
        char text[TEXT];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        send_text(&self->callbacks, self->name, status, CATEGORY_NAMES[category], text);
    }
    return status;
}

void report_early(const fmi2CallbackFunctions *callbacks, const char *name, const char *text) {
    if (callbacks) send_text(callbacks, name ? name : "", fmi2Error, CATEGORY_NAMES[LOG_ERROR], text);
}

Number number(double value) {
    Number n;
    if (isnan(value))
        strcpy(n.text, "nan"); /* some libraries print a sign */
    else if (isinf(value))
        strcpy(n.text, value > 0 ? "inf" : "-inf");
    else
        snprintf(n.text, sizeof n.text, "%g", value);
    char *comma = strchr(n.text, ',');
    if (comma) *comma = '.';
    return n;
}
