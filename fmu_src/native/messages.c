#include "messages.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const CATEGORY_NAMES[LOG_CATEGORIES] = {"logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal", "logAll"};

static Category category_of(fmi2Status status) {
    switch (status) {
    case fmi2Warning: return LOG_WARNING;
    case fmi2Discard: return LOG_DISCARD;
    case fmi2Error: return LOG_ERROR;
    case fmi2Fatal: return LOG_FATAL;
    default: return LOG_ALL;
    }
}

/* To the host a message is a format for printf. The text must have room for twice its length. */
static void double_percents(char *text) {
    for (char *c = strchr(text, '%'); c; c = strchr(c + 2, '%')) memmove(c + 1, c, strlen(c) + 1);
}

fmi2Status report(const Instance *self, fmi2Status status, const char *format, ...) {
    const Category category = category_of(status);
    const int wanted = status >= fmi2Discard || (self->categories & (1u << LOG_ALL | 1u << category));
    if (self->callbacks.logger && wanted) {
        char text[2 * TEXT]; /* room for every percent sign to be doubled */
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, TEXT, format, arguments);
        va_end(arguments);
        double_percents(text);
        self->callbacks.logger(self->callbacks.componentEnvironment, self->name, status, CATEGORY_NAMES[category], text);
    }
    return status;
}

void report_early(const fmi2CallbackFunctions *callbacks, const char *name, const char *text) {
    callbacks->logger(callbacks->componentEnvironment, name ? name : "", fmi2Error, CATEGORY_NAMES[LOG_ERROR], text);
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

Name name_of(const Row *row, size_t offset) {
    Name name;
    if (row->after)
        snprintf(name.text, sizeof name.text, "%s%lu%s", row->before, (unsigned long)offset + 1, row->after);
    else
        snprintf(name.text, sizeof name.text, "%s", row->before);
    return name;
}
