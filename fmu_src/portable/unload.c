/* Ends the Python processes when the library is unloaded or the host exits. */
#include "child.h"

#if defined _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <stdarg.h>
#include <stdio.h>

BOOL WINAPI DllMainCRTStartup(HINSTANCE library, DWORD reason, LPVOID reserved);

/* The entry point, and two functions that MinGW has in its C library and Windows has not. The library needs nothing
 * else of it, and compiling it would take a minute. */
BOOL WINAPI DllMainCRTStartup(HINSTANCE library, DWORD reason, LPVOID reserved) {
    (void)library;
    if (reason == DLL_PROCESS_DETACH && !reserved)
        children_end(); /* reserved: the host exits, which ends the job of its children */
    return TRUE;
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
#else
__attribute__((destructor)) static void unload(void) { children_end(); }
#endif
