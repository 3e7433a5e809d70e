/* What a library for Windows needs besides Windows' own C library (the universal C runtime): the entry point, two
 * functions that are inline there, and two that the compiler calls. MinGW's C library has them as well, but compiling
 * that takes minutes. codegen/compiler.py adds this file where zig compiles for Windows. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

BOOL WINAPI DllMainCRTStartup(HINSTANCE library, DWORD reason, LPVOID reserved);

__attribute__((weak)) BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved) {
    (void)library, (void)reason, (void)reserved;
    return TRUE;
}

BOOL WINAPI DllMainCRTStartup(HINSTANCE library, DWORD reason, LPVOID reserved) {
    return DllMain(library, reason, reserved);
}

int vsnprintf(char *text, size_t size, const char *format, va_list arguments) {
    return __stdio_common_vsprintf(_CRT_INTERNAL_PRINTF_STANDARD_SNPRINTF_BEHAVIOR, text, size, format, NULL,
                                   arguments);
}

int snprintf(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return n;
}

void sincos(double angle, double *sine, double *cosine);

/* Called for sin and cos of the same angle. no_builtin: otherwise the compiler would make it call itself. */
__attribute__((no_builtin)) void sincos(double angle, double *sine, double *cosine) {
    *sine = sin(angle);
    *cosine = cos(angle);
}

/* Called before a function takes more than a page of the stack: rax bytes, which it must keep, as all other registers.
 * Windows maps the stack page by page, each when the one above it has been touched. */
__asm__(".globl ___chkstk_ms\n"
        "___chkstk_ms:\n"
        "    pushq %rcx\n"
        "    pushq %rax\n"
        "    leaq 24(%rsp), %rcx\n" /* the stack pointer of the caller */
        "1:  cmpq $0x1000, %rax\n"
        "    jbe 2f\n"
        "    subq $0x1000, %rcx\n"
        "    orq $0, (%rcx)\n"
        "    subq $0x1000, %rax\n"
        "    jmp 1b\n"
        "2:  subq %rax, %rcx\n"
        "    orq $0, (%rcx)\n"
        "    popq %rax\n"
        "    popq %rcx\n"
        "    retq\n");
