/* The entry point of a program and its printf, so that host.c needs nothing of MinGW's C library, which takes minutes
 * to compile. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv);
int _configure_narrow_argv(int mode);

void mainCRTStartup(void);
void __main(void);

void __main(void) {} /* constructors: there are none */

void mainCRTStartup(void) {
    _configure_narrow_argv(1);
    exit(main(*__p___argc(), *__p___argv()));
}

int vfprintf(FILE *file, const char *format, va_list arguments) {
    return __stdio_common_vfprintf(0, file, format, NULL, arguments);
}

int fprintf(FILE *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vfprintf(file, format, arguments);
    va_end(arguments);
    return n;
}

int printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vfprintf(stdout, format, arguments);
    va_end(arguments);
    return n;
}
