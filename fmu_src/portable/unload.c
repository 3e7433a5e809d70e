/* Ends the Python processes when the library is unloaded or the host exits. */
#include "child.h"

#if defined _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved) {
    (void)library;
    if (reason == DLL_PROCESS_DETACH && !reserved)
        children_end(); /* reserved: the host exits, which ends the job of its children */
    return TRUE;
}
#else
__attribute__((destructor)) static void unload(void) { children_end(); }
#endif
