/* Windows: two pipes as channel, a job that ends with the host, and a file for what the process prints, deleted when it
 * is closed. */
#define WIN32_LEAN_AND_MEAN
#include "process.h"

#if defined _WIN32
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static const double SPIN_TIME = 100e-6; /* s of polling before a blocking wait */

struct Process {
    HANDLE process, job, to, from, output, done; /* done: the event of overlapped transfers */
};

/* --- texts -------------------------------------------------------------------------------------------------------- */

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

/* --- the process -------------------------------------------------------------------------------------------------- */

static void close_handle(HANDLE handle) {
    if (handle && handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
}

static HANDLE open_null(DWORD access, SECURITY_ATTRIBUTES *inherited) {
    return CreateFileW(L"NUL", access, FILE_SHARE_READ | FILE_SHARE_WRITE, inherited, OPEN_EXISTING, 0, NULL);
}

/* A file for what the process prints: a handle to read and truncate it, and one that only appends, so that what threads
 * print meanwhile goes to the end. */
static HANDLE unnamed_file(SECURITY_ATTRIBUTES *inherited, HANDLE *append) {
    enum { SHARED = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
    wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
    if (GetTempPathW(MAX_PATH, folder) && GetTempFileNameW(folder, L"fmu", 0, name)) {
        const DWORD kind = FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE;
        const DWORD appending = FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
        const HANDLE file =
            CreateFileW(name, GENERIC_READ | GENERIC_WRITE, SHARED, inherited, CREATE_ALWAYS, kind, NULL);
        *append = file != INVALID_HANDLE_VALUE ? CreateFileW(name, appending, SHARED, inherited, OPEN_EXISTING, 0, NULL)
                                               : file;
        if (*append != INVALID_HANDLE_VALUE) return file;
        close_handle(file);
    }
    *append = open_null(GENERIC_READ | GENERIC_WRITE, inherited);
    return open_null(GENERIC_READ | GENERIC_WRITE, inherited);
}

/* A pipe whose end here can wait with a deadline, unlike those of CreatePipe. */
static int open_pipe(HANDLE *here, DWORD direction, HANDLE *there, DWORD access, SECURITY_ATTRIBUTES *inherited) {
    LARGE_INTEGER now;
    char name[96];
    QueryPerformanceCounter(&now);
    snprintf(name, sizeof name, "\\\\.\\pipe\\mechfmu.%lu.%p.%lld", (unsigned long)GetCurrentProcessId(), (void *)here,
             (long long)now.QuadPart);
    const DWORD mode = direction | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE;
    *here = CreateNamedPipeA(name, mode, PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, 65536, 65536, 0, NULL);
    *there = *here != INVALID_HANDLE_VALUE ? CreateFileA(name, access, 0, inherited, OPEN_EXISTING, 0, NULL)
                                           : INVALID_HANDLE_VALUE;
    return *there != INVALID_HANDLE_VALUE;
}

/* The environment of the child, without variables that make a Python use the library of another. */
static wchar_t *child_environment(int keep_home) {
    wchar_t *all = GetEnvironmentStringsW();
    if (!all) return NULL;
    size_t n = 1;
    for (const wchar_t *v = all; *v; v += wcslen(v) + 1) n += wcslen(v) + 1;
    wchar_t *copy = calloc(n, sizeof *copy), *next = copy;
    for (const wchar_t *v = all; copy && *v; v += wcslen(v) + 1) {
        if (wcsncmp(v, L"__PYVENV_LAUNCHER__=", 20) == 0 || (!keep_home && wcsncmp(v, L"PYTHONHOME=", 11) == 0))
            continue;
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
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE; /* also when the host crashes */
    if (job) SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

/* Creates the process suspended, so that it is in the job before it runs. */
static DWORD create_process(Process *self, wchar_t *program, wchar_t *command, wchar_t *variables,
                            STARTUPINFOEXW *start) {
    const DWORD flags = CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT | CREATE_SUSPENDED;
    PROCESS_INFORMATION started;
    if (!CreateProcessW(program, command, NULL, NULL, TRUE, flags, variables, NULL, &start->StartupInfo, &started))
        return GetLastError();
    self->process = started.hProcess;
    self->job = closing_job();
    if (self->job) AssignProcessToJobObject(self->job, started.hProcess);
    ResumeThread(started.hThread);
    CloseHandle(started.hThread);
    return 0;
}

static DWORD spawn(Process *self, const char *python, const char *before, const char *script, int keep_home, HANDLE in,
                   HANDLE out, HANDLE none, HANDLE append) {
    const size_t room = strlen(python) + strlen(script) + (before ? strlen(before) : 0) + 120;
    char *line = malloc(room);
    if (!line) return ERROR_NOT_ENOUGH_MEMORY;
    snprintf(line, room, "\"%s\" %s -B \"%s\" %llu %llu 0 %llu 0", python, before ? before : "", script,
             (unsigned long long)(size_t)in, (unsigned long long)(size_t)out, (unsigned long long)(size_t)self->output);
    wchar_t *command = wide(line), *program = wide(python), *variables = child_environment(keep_home);
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(NULL, 1, 0, &size);
    STARTUPINFOEXW start;
    memset(&start, 0, sizeof start);
    start.StartupInfo.cb = sizeof start;
    start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    start.StartupInfo.hStdInput = none;
    start.StartupInfo.hStdOutput = start.StartupInfo.hStdError = append;
    start.lpAttributeList = malloc(size);
    HANDLE inherited[] = {none, append, self->output, in, out};
    DWORD error = ERROR_NOT_ENOUGH_MEMORY;
    if (command && program && variables && start.lpAttributeList &&
        InitializeProcThreadAttributeList(start.lpAttributeList, 1, 0, &size)) {
        UpdateProcThreadAttribute(start.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited,
                                  sizeof inherited, NULL, NULL);
        error = create_process(self, program, command, variables, &start);
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
    HANDLE in = NULL, out = NULL, append = NULL;
    DWORD error = ERROR_NOT_ENOUGH_MEMORY;
    if (self && (self->done = CreateEventW(NULL, TRUE, FALSE, NULL)) != NULL &&
        open_pipe(&self->to, PIPE_ACCESS_OUTBOUND, &in, GENERIC_READ, &inherited) &&
        open_pipe(&self->from, PIPE_ACCESS_INBOUND, &out, GENERIC_WRITE, &inherited)) {
        self->output = unnamed_file(&inherited, &append);
        const HANDLE none = open_null(GENERIC_READ, &inherited);
        error = spawn(self, python, before, script, keep_home, in, out, none, append);
        close_handle(none);
        SetHandleInformation(self->output, HANDLE_FLAG_INHERIT, 0);
    }
    close_handle(in);
    close_handle(out);
    close_handle(append);
    if (!error) return self;
    *why = reason(error);
    if (self) process_forget(self);
    return NULL;
}

/* Waits for a started transfer; *n is its number of bytes. Also detects the end of a process whose child process keeps
 * the pipe open. */
static Transfer finish(Process *self, HANDLE pipe, BOOL started, OVERLAPPED *transfer, DWORD *n, double deadline) {
    if (!started && GetLastError() != ERROR_IO_PENDING) return CLOSED;
    const double spin_end = process_clock() + SPIN_TIME;
    Transfer state = DONE;
    while (!HasOverlappedIoCompleted(transfer) && process_clock() < spin_end) Sleep(0);
    if (!HasOverlappedIoCompleted(transfer)) {
        const HANDLE either[] = {transfer->hEvent, self->process};
        const double left = deadline > 0 ? deadline - process_clock() : 0;
        const DWORD limit = deadline <= 0 ? INFINITE : left <= 0 ? 0 : left < 4e6 ? (DWORD)(left * 1e3) + 1 : INFINITE;
        const DWORD which = WaitForMultipleObjects(2, either, FALSE, limit);
        if (which != WAIT_OBJECT_0) {
            state = which == WAIT_TIMEOUT ? TIMED_OUT : CLOSED;
            CancelIo(pipe);
        }
    }
    const int done =
        GetOverlappedResult(pipe, transfer, n, TRUE) && *n > 0; /* it may be complete although it was cancelled */
    return done ? DONE : state == DONE ? CLOSED : state;
}

Transfer process_send(Process *self, const void *bytes, size_t n, double deadline) {
    const char *next = bytes;
    while (n > 0) {
        OVERLAPPED transfer = {.hEvent = self->done};
        DWORD sent = 0;
        const BOOL started = WriteFile(self->to, next, n > 1u << 24 ? 1u << 24 : (DWORD)n, NULL, &transfer);
        const Transfer state = finish(self, self->to, started, &transfer, &sent, deadline);
        if (state != DONE) return state;
        next += sent;
        n -= sent;
    }
    return DONE;
}

Transfer process_receive(Process *self, void *bytes, size_t most, size_t *n, double deadline) {
    OVERLAPPED transfer = {.hEvent = self->done};
    DWORD got = 0;
    const BOOL started = ReadFile(self->from, bytes, most > 1u << 30 ? 1u << 30 : (DWORD)most, NULL, &transfer);
    const Transfer state = finish(self, self->from, started, &transfer, &got, deadline);
    *n = got;
    return state;
}

int process_alive(Process *self) { return WaitForSingleObject(self->process, 0) == WAIT_TIMEOUT; }

void process_end(Process *self, double timeout, char *exit_report, size_t size) {
    DWORD status = 0;
    close_handle(self->to);
    self->to = NULL;
    if (WaitForSingleObject(self->process, (DWORD)(timeout * 1e3)) != WAIT_OBJECT_0) {
        TerminateProcess(self->process, 1);
        WaitForSingleObject(self->process, 1000);
    }
    if (exit_report) {
        DWORD got = 0;
        const DWORD length = GetFileSize(self->output, NULL), room = (DWORD)size - 32;
        const DWORD taken =
            SetFilePointer(self->output, 0, NULL,
                           FILE_CURRENT); /* the process has moved it to the end of what it has sent as messages */
        exit_report[0] = '\0';
        if (length != INVALID_FILE_SIZE && taken <= length) {
            SetFilePointer(self->output, (LONG)(length - taken > room ? length - room : taken), NULL, FILE_BEGIN);
            if (!ReadFile(self->output, exit_report, room, &got, NULL)) got = 0;
            exit_report[got] = '\0';
        }
        const char *gap = got && exit_report[got - 1] != '\n' ? "\n" : "";
        if (GetExitCodeProcess(self->process, &status))
            snprintf(exit_report + strlen(exit_report), 32, "%s(exit status %ld)", gap, (long)status);
    }
    process_forget(self);
}

void process_forget(Process *self) {
    close_handle(self->process);
    close_handle(self->job);
    close_handle(self->to);
    close_handle(self->from);
    close_handle(self->output);
    close_handle(self->done);
    free(self);
}

long process_self(void) { return (long)GetCurrentProcessId(); }

double process_clock(void) {
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}

void process_pause(unsigned count) { Sleep(count < 20 ? 0 : 1); }

/* --- paths -------------------------------------------------------------------------------------------------------- */

char *environment(const char *name) {
    wchar_t *variable = wide(name), *value = NULL;
    const DWORD n = variable ? GetEnvironmentVariableW(variable, NULL, 0) : 0;
    char *result = NULL;
    if (n > 1 && (value = malloc(n * sizeof *value)) != NULL && GetEnvironmentVariableW(variable, value, n) > 0)
        result = narrow(value);
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
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            here.data, &module))
        return NULL;
    char *path = module_path(module);
    char *slash = path ? strrchr(path, '\\') : NULL;
    if (slash) *slash = '\0';
    return path;
}

/* An application that embeds Python is not an interpreter. */
static int is_python(const char *path) {
    const char *slash = strrchr(path, '\\');
    const char *name = slash ? slash + 1 : path;
    return _strnicmp(name, "python", 6) == 0;
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
    const HANDLE file =
        path ? CreateFileW(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL) : INVALID_HANDLE_VALUE;
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
    return path_join(folder, "python.exe"); /* conda */
}

char *full_path(const char *path) {
    enum { LONGEST = 32768 };
    wchar_t *name = wide(path), *full = malloc(LONGEST * sizeof *full);
    const DWORD n = name && full ? GetFullPathNameW(name, LONGEST, full, NULL) : 0;
    char *result = n > 0 && n < LONGEST ? narrow(full) : NULL;
    free(full);
    free(name);
    return result;
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
