/* Windows: two pipes as channel, a job that ends with the host, a file that is deleted when it is closed for what the process prints. */
#define WIN32_LEAN_AND_MEAN
#include "process.h"

#if defined _WIN32
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static const double SPIN = 100e-6; /* s of looking for an answer before the scheduler is asked to wait */

struct Process {
    HANDLE process, job, to, from, output;
};

/* --- texts ------------------------------------------------------------------------------------------------------------------------- */

static wchar_t *wide(const char *text) {
    const int n = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *result = n > 0 ? malloc((size_t)n * sizeof(wchar_t)) : NULL;
    if (result) MultiByteToWideChar(CP_UTF8, 0, text, -1, result, n);
    return result;
}

static char *narrow(const wchar_t *text) {
    const int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *result = n > 0 ? malloc((size_t)n) : NULL;
    if (result) WideCharToMultiByte(CP_UTF8, 0, text, -1, result, n, NULL, NULL);
    return result;
}

static const char *reason(DWORD error) {
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return "there is no such program";
    case ERROR_ACCESS_DENIED: return "access is denied";
    case ERROR_BAD_EXE_FORMAT: return "it is not a program for this system";
    case ERROR_NOT_ENOUGH_MEMORY: return "there is not enough memory";
    default: return "Windows cannot start it";
    }
}

/* --- the process --------------------------------------------------------------------------------------------------------------------- */

static HANDLE unnamed_file(SECURITY_ATTRIBUTES *inherited) {
    wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
    if (GetTempPathW(MAX_PATH, folder) && GetTempFileNameW(folder, L"fmu", 0, name)) {
        const HANDLE file = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, inherited, CREATE_ALWAYS,
                                        FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
        if (file != INVALID_HANDLE_VALUE) return file;
    }
    return CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, inherited, OPEN_EXISTING, 0, NULL);
}

/* The environment of the child: without what would make one Python take another's library. */
static wchar_t *child_environment(int keep_home) {
    wchar_t *all = GetEnvironmentStringsW();
    if (!all) return NULL;
    size_t n = 1;
    for (const wchar_t *v = all; *v; v += wcslen(v) + 1) n += wcslen(v) + 1;
    wchar_t *copy = calloc(n, sizeof *copy), *next = copy;
    for (const wchar_t *v = all; copy && *v; v += wcslen(v) + 1) {
        if (wcsncmp(v, L"__PYVENV_LAUNCHER__=", 20) == 0 || (!keep_home && wcsncmp(v, L"PYTHONHOME=", 11) == 0)) continue;
        wcscpy(next, v);
        next += wcslen(v) + 1;
    }
    FreeEnvironmentStringsW(all);
    return copy;
}

static HANDLE closing_job(void) {
    const HANDLE job = CreateJobObjectW(NULL, NULL);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
    memset(&limits, 0, sizeof limits);
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE; /* however the host ends, its handle is closed */
    if (job) SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

static void close_handle(HANDLE handle) {
    if (handle && handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
}

static DWORD spawn(Process *self, const char *python, const char *before, const char *script, int keep_home, HANDLE in, HANDLE out, HANDLE none) {
    char *line = malloc(strlen(python) + strlen(script) + (before ? strlen(before) : 0) + 120);
    if (!line) return ERROR_NOT_ENOUGH_MEMORY;
    snprintf(line, strlen(python) + strlen(script) + (before ? strlen(before) : 0) + 120, "\"%s\" %s -B \"%s\" %llu %llu 0 0", python, before ? before : "", script, (unsigned long long)(size_t)in, (unsigned long long)(size_t)out);
    wchar_t *command = wide(line), *program = wide(python), *variables = child_environment(keep_home);
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(NULL, 1, 0, &size);
    STARTUPINFOEXW start;
    PROCESS_INFORMATION started;
    memset(&start, 0, sizeof start);
    start.StartupInfo.cb = sizeof start;
    start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    start.StartupInfo.hStdInput = none;
    start.StartupInfo.hStdOutput = start.StartupInfo.hStdError = self->output;
    start.lpAttributeList = malloc(size);
    HANDLE inherited[] = {none, self->output, in, out};
    DWORD error = ERROR_NOT_ENOUGH_MEMORY;
    if (command && program && variables && start.lpAttributeList && InitializeProcThreadAttributeList(start.lpAttributeList, 1, 0, &size)) {
        UpdateProcThreadAttribute(start.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited, sizeof inherited, NULL, NULL);
        const DWORD flags = CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT | CREATE_SUSPENDED;
        if (CreateProcessW(program, command, NULL, NULL, TRUE, flags, variables, NULL, &start.StartupInfo, &started)) {
            error = 0;
            self->process = started.hProcess;
            self->job = closing_job();
            if (self->job) AssignProcessToJobObject(self->job, started.hProcess);
            ResumeThread(started.hThread);
            CloseHandle(started.hThread);
        } else {
            error = GetLastError();
        }
        DeleteProcThreadAttributeList(start.lpAttributeList);
    }
    free(start.lpAttributeList);
    free(line);
    free(command);
    free(program);
    free(variables);
    return error;
}

Process *process_start(const char *python, const char *before, const char *script, int keep_home, const char **why) {
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    Process *self = calloc(1, sizeof *self);
    HANDLE in = NULL, out = NULL;
    DWORD error = ERROR_NOT_ENOUGH_MEMORY;
    if (self && CreatePipe(&in, &self->to, &inherited, 65536) && CreatePipe(&self->from, &out, &inherited, 65536)) {
        SetHandleInformation(self->to, HANDLE_FLAG_INHERIT, 0);
        SetHandleInformation(self->from, HANDLE_FLAG_INHERIT, 0);
        self->output = unnamed_file(&inherited);
        const HANDLE none = CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, NULL);
        error = spawn(self, python, before, script, keep_home, in, out, none);
        close_handle(none);
        SetHandleInformation(self->output, HANDLE_FLAG_INHERIT, 0);
    }
    close_handle(in);
    close_handle(out);
    if (!error) return self;
    *why = reason(error);
    if (self) process_forget(self);
    return NULL;
}

Transfer process_send(Process *self, const void *bytes, size_t n, double deadline) {
    const char *next = bytes;
    (void)deadline; /* a pipe takes what it is given as soon as the other side reads */
    while (n > 0) {
        DWORD sent = 0;
        if (!WriteFile(self->to, next, n > 1u << 30 ? 1u << 30 : (DWORD)n, &sent, NULL)) return GONE;
        next += sent;
        n -= sent;
    }
    return DONE;
}

Transfer process_receive(Process *self, void *bytes, size_t most, size_t *n, double deadline) {
    const double patience = process_clock() + SPIN;
    for (;;) {
        DWORD waiting = 0, got = 0;
        if (!PeekNamedPipe(self->from, NULL, 0, NULL, &waiting, NULL)) return GONE;
        const double now = process_clock();
        if (waiting > 0 || (deadline <= 0 && now > patience)) {
            if (!ReadFile(self->from, bytes, most > 1u << 30 ? 1u << 30 : (DWORD)most, &got, NULL) || got == 0) return GONE;
            *n = got;
            return DONE;
        }
        if (deadline > 0 && now > deadline) return LATE;
        Sleep(now > patience ? 1 : 0);
    }
}

void process_end(Process *self, double patience, char *last_words, size_t size) {
    DWORD status = 0;
    close_handle(self->to);
    self->to = NULL;
    if (WaitForSingleObject(self->process, (DWORD)(patience * 1e3)) != WAIT_OBJECT_0) {
        TerminateProcess(self->process, 1);
        WaitForSingleObject(self->process, 1000);
    }
    if (last_words) {
        DWORD got = 0;
        const DWORD length = GetFileSize(self->output, NULL), room = (DWORD)size - 32;
        last_words[0] = '\0';
        if (length != INVALID_FILE_SIZE) {
            SetFilePointer(self->output, length > room ? (LONG)(length - room) : 0, NULL, FILE_BEGIN);
            if (!ReadFile(self->output, last_words, room, &got, NULL)) got = 0;
            last_words[got] = '\0';
        }
        if (GetExitCodeProcess(self->process, &status)) snprintf(last_words + strlen(last_words), 32, "%s(exit status %ld)", got ? "\n" : "", (long)status);
    }
    process_forget(self);
}

void process_forget(Process *self) {
    close_handle(self->process);
    close_handle(self->job);
    close_handle(self->to);
    close_handle(self->from);
    close_handle(self->output);
    free(self);
}

long process_self(void) { return (long)GetCurrentProcessId(); }

double process_clock(void) {
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}

void process_nap(unsigned count) { Sleep(count < 20 ? 0 : 1); }

/* --- where things are ------------------------------------------------------------------------------------------------------------------- */

char *environment(const char *name) {
    wchar_t *variable = wide(name), *value = NULL;
    const DWORD n = variable ? GetEnvironmentVariableW(variable, NULL, 0) : 0;
    char *result = NULL;
    if (n > 1 && (value = malloc(n * sizeof *value)) != NULL && GetEnvironmentVariableW(variable, value, n) > 0) result = narrow(value);
    free(value);
    free(variable);
    return result;
}

int file_exists(const char *path) {
    wchar_t *name = wide(path);
    const DWORD found = name ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
    free(name);
    return found != INVALID_FILE_ATTRIBUTES;
}

static char *module_path(HMODULE module) {
    enum { LONGEST = 32768 };
    wchar_t *name = malloc(LONGEST * sizeof *name);
    const DWORD n = name ? GetModuleFileNameW(module, name, LONGEST) : 0;
    char *path = n > 0 && n < LONGEST ? narrow(name) : NULL;
    free(name);
    return path;
}

char *library_folder(void) {
    HMODULE module = NULL;
    union {
        char *(*function)(void);
        LPCWSTR data;
    } here = {library_folder};
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, here.data, &module)) return NULL;
    char *path = module_path(module);
    char *slash = path ? strrchr(path, '\\') : NULL;
    if (slash) *slash = '\0';
    return path;
}

/* An application with a Python inside is not an interpreter. */
static int is_python(const char *path) {
    const char *slash = strrchr(path, '\\');
    const char *name = slash ? slash + 1 : path;
    return (name[0] | 0x20) == 'p' && (name[1] | 0x20) == 'y';
}

char *own_python(void) {
    for (int minor = 6; minor < 40; minor++) {
        char library[24];
        snprintf(library, sizeof library, "python3%d.dll", minor);
        const HMODULE module = GetModuleHandleA(library);
        union {
            FARPROC data;
            wchar_t *(*function)(void);
        } program = {module ? GetProcAddress(module, "Py_GetProgramFullPath") : NULL};
        const wchar_t *name = program.data ? program.function() : NULL;
        char *path = name && *name ? narrow(name) : NULL;
        if (path && is_python(path) && file_exists(path)) return path;
        free(path);
    }
    return NULL;
}

char *registered_python(void) {
    char *base = environment("APPDATA");
    char *name = base ? path_join(base, "mechfmu/python") : NULL;
    wchar_t *path = name ? wide(name) : NULL;
    char line[2048] = "";
    DWORD got = 0;
    const HANDLE file = path ? CreateFileW(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL) : INVALID_HANDLE_VALUE;
    if (file != INVALID_HANDLE_VALUE) {
        if (!ReadFile(file, line, sizeof line - 1, &got, NULL)) got = 0;
        CloseHandle(file);
    }
    free(path);
    free(name);
    free(base);
    line[got] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    return line[0] ? _strdup(line) : NULL;
}

char *virtual_environment_python(const char *folder) {
    char *path = path_join(folder, "Scripts/python.exe");
    if (path && file_exists(path)) return path;
    free(path);
    return path_join(folder, "python.exe"); /* as conda has it */
}

char *find_program(const char *name) {
    wchar_t *program = wide(name);
    enum { LONGEST = 32768 };
    wchar_t *found = malloc(LONGEST * sizeof *found);
    char *path = NULL;
    if (program && found) {
        const int has_folder = wcschr(program, L'\\') || wcschr(program, L'/');
        const DWORD n = has_folder ? 0 : SearchPathW(NULL, program, L".exe", LONGEST, found, NULL);
        path = has_folder ? narrow(program) : n > 0 && n < LONGEST ? narrow(found) : NULL;
    }
    free(found);
    free(program);
    return path;
}

char *python_on_path(size_t index, const char **before) {
    static const char *const names[] = {"py.exe", "python3.exe", "python.exe"};
    *before = NULL;
    for (size_t i = 0; i < 3; i++) {
        char *found = find_program(names[i]);
        if (found && index-- == 0) {
            if (i == 0) *before = "-3"; /* the launcher: the newest Python 3 */
            return found;
        }
        free(found);
    }
    return NULL;
}
#endif
