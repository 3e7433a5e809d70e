/* Linux and macOS: a socket pair as channel, a pipe that nobody writes to as lifeline, an unlinked file for what the
 * process prints. */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include "process.h"

#if !defined _WIN32
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

extern char **environ;

enum { CHANNEL = 3, LIFELINE = 4, OUTPUT = 5 }; /* descriptors in the child */
enum { FIRST_FREE = 10 };                       /* smallest descriptor of the host, so that they do not collide */
static const double ALIVE_CHECK_PERIOD = 0.25;  /* s, of a process that does not answer */
static const double SPIN_TIME = 500e-6;         /* s of polling before a wait: waking up takes longer than most calls */
#if defined MSG_NOSIGNAL
enum { NO_SIGNAL = MSG_NOSIGNAL };
#else
enum { NO_SIGNAL = 0 }; /* SO_NOSIGPIPE does it */
#endif

struct Process {
    pid_t pid;
    int channel, lifeline, output;
};

/* --- the process -------------------------------------------------------------------------------------------------- */

/* Moves a descriptor above those of the child; it is closed in other programs that the host starts. */
static int moved(int descriptor) {
    if (descriptor < 0) return -1;
    const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_FREE);
    close(descriptor);
    return high;
}

static void close_all(const int *descriptors, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
}

/* A file for what the process prints: returns a descriptor that appends; *reading is another one, whose position is the
 * end of what has been sent as messages. */
static int unnamed_file(int *reading) {
    const char *folders[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *name = folders[i] && *folders[i] ? path_join(folders[i], "mechfmu_XXXXXX") : NULL;
        const int file = name ? mkstemp(name) : -1;
        if (file >= 0) {
            *reading = open(name, O_RDWR);
            unlink(name);
            fcntl(file, F_SETFL, O_APPEND);
        }
        free(name);
        if (file >= 0) return file;
    }
    *reading = open("/dev/null", O_RDWR);
    return open("/dev/null", O_RDWR); /* only the exit report suffers */
}

/* The environment of the child, without variables that make a Python use the library of another. */
static char **child_environment(int keep_home) {
    size_t n = 0;
    while (environ && environ[n]) n++;
    char **copy = calloc(n + 1, sizeof *copy);
    if (!copy) return NULL;
    for (size_t i = 0, k = 0; i < n; i++)
        if (strncmp(environ[i], "__PYVENV_LAUNCHER__=", 20) != 0 &&
            (keep_home || strncmp(environ[i], "PYTHONHOME=", 11) != 0))
            copy[k++] = environ[i];
    return copy;
}

/* Signals of the child: none blocked, and the default action where the host may have changed it. */
static void set_signals(posix_spawnattr_t *attributes) {
    sigset_t none, ordinary;
    sigemptyset(&none);
    sigemptyset(&ordinary);
    sigaddset(&ordinary, SIGINT);
    sigaddset(&ordinary, SIGTERM);
    sigaddset(&ordinary, SIGCHLD);
    sigaddset(&ordinary, SIGIO);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &ordinary);
    posix_spawnattr_setpgroup(attributes, 0); /* Ctrl-C in the terminal is for the host */
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

static int spawn(Process *self, const char *python, const char *before, const char *script, int keep_home,
                 const int ends[5]) {
    char host[24], channel[8], lifeline[8], output[8];
    snprintf(host, sizeof host, "%ld", (long)getpid());
    snprintf(channel, sizeof channel, "%d", CHANNEL);
    snprintf(lifeline, sizeof lifeline, "%d", LIFELINE);
    snprintf(output, sizeof output, "%d", OUTPUT);
    const char *arguments[11] = {python};
    size_t n = 1;
    if (before) arguments[n++] = before;
    arguments[n++] = "-B"; /* do not write into the folder of the FMU */
    arguments[n++] = script;
    arguments[n++] = channel;
    arguments[n++] = channel;
    arguments[n++] = lifeline;
    arguments[n++] = output;
    arguments[n++] = host;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **variables = child_environment(keep_home);
    if (!variables) return ENOMEM;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int i = 0; i < 3; i++) posix_spawn_file_actions_adddup2(&actions, i == 0 ? ends[0] : ends[1], i);
    posix_spawn_file_actions_adddup2(&actions, ends[2], CHANNEL);
    posix_spawn_file_actions_adddup2(&actions, ends[3], LIFELINE);
    posix_spawn_file_actions_adddup2(&actions, ends[4], OUTPUT);
    set_signals(&attributes);
    const int error = posix_spawn(&self->pid, python, &actions, &attributes, (char *const *)arguments, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(variables);
    return error;
}

Process *process_start(const char *python, const char *before, const char *script, int keep_home, const char **why) {
    Process *self = calloc(1, sizeof *self);
    int sockets[2] = {-1, -1}, pipes[2] = {-1, -1}, reading = -1;
    int error = !self ? ENOMEM : socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || pipe(pipes) ? errno : 0;
    const int nothing = moved(open("/dev/null", O_RDONLY)), appending = moved(unnamed_file(&reading));
    /* the child's: input, output, CHANNEL, LIFELINE, OUTPUT */
    const int ends[5] = {nothing, appending, moved(sockets[1]), moved(pipes[0]), moved(reading)};
    const int ours[2] = {moved(sockets[0]), moved(pipes[1])};
    for (int i = 0; !error && i < 5; i++)
        if (ends[i] < 0 || ours[i % 2] < 0) error = EMFILE;
    if (!error) error = spawn(self, python, before, script, keep_home, ends);
    close_all(ends, 4);
    if (error) {
        close_all(ours, 2);
        close_all(&ends[4], 1);
        free(self);
        *why = strerror(error);
        return NULL;
    }
    self->output = ends[4];
    self->channel = ours[0];
    self->lifeline = ours[1];
#if defined SO_NOSIGPIPE
    setsockopt(self->channel, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
    return self;
}

int process_alive(Process *self) {
    siginfo_t about;
    memset(&about, 0, sizeof about);
    return waitid(P_PID, (id_t)self->pid, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid == 0;
}

/* Also detects the end of a process whose child process keeps the channel open. */
static Transfer wait_for(Process *self, short what, double deadline) {
    struct pollfd look = {self->channel, what, 0};
    for (int alive = 1;;) {
        const double left = deadline > 0 ? deadline - process_clock() : ALIVE_CHECK_PERIOD;
        if (left <= 0) return TIMED_OUT;
        const int n = poll(&look, 1, alive ? (int)(fmin(left, ALIVE_CHECK_PERIOD) * 1e3) + 1 : 0);
        if (n > 0) return DONE;
        if (n < 0 && errno != EINTR && errno != EAGAIN) return CLOSED;
        if (!alive) return CLOSED;
        alive = process_alive(self);
    }
}

Transfer process_send(Process *self, const void *bytes, size_t n, double deadline) {
    const char *next = bytes;
    while (n > 0) {
        const ssize_t sent = send(self->channel, next, n, NO_SIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            next += sent;
            n -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
            const Transfer state = wait_for(self, POLLOUT, deadline);
            if (state != DONE) return state;
        } else if (errno != EINTR) {
            return CLOSED;
        }
    }
    return DONE;
}

Transfer process_receive(Process *self, void *bytes, size_t most, size_t *n, double deadline) {
    double spin_end = 0;
    for (;;) {
        const ssize_t got = recv(self->channel, bytes, most, MSG_DONTWAIT);
        if (got > 0) {
            *n = (size_t)got;
            return DONE;
        }
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return CLOSED;
        const double now = process_clock();
        if (spin_end == 0) spin_end = now + SPIN_TIME;
        if (now < spin_end) {
            sched_yield();
        } else {
            const Transfer state = wait_for(self, POLLIN, deadline);
            if (state != DONE) return state;
        }
    }
}

/* The last `size` - 1 bytes of the output that have not been sent as messages. */
static void read_end(int file, char *text, size_t size) {
    struct stat about;
    text[0] = '\0';
    if (fstat(file, &about) || !S_ISREG(about.st_mode)) return;
    const off_t taken = lseek(file, 0, SEEK_CUR), last = about.st_size - (off_t)(size - 1);
    const off_t from = taken > last && taken <= about.st_size ? taken : last > 0 ? last : 0;
    const ssize_t got = pread(file, text, size - 1, from);
    text[got > 0 ? got : 0] = '\0';
}

static void describe_end(int status, char *text, size_t size) {
    const size_t used = strlen(text);
    if (used + 2 >= size) return;
    const char *gap = used && text[used - 1] != '\n' ? "\n" : "";
    if (WIFSIGNALED(status))
        snprintf(text + used, size - used, "%s(ended by signal %d)", gap, WTERMSIG(status));
    else
        snprintf(text + used, size - used, "%s(exit status %d)", gap, WEXITSTATUS(status));
}

void process_end(Process *self, double timeout, char *exit_report, size_t size) {
    int status = 0;
    pid_t ended = 0;
    shutdown(self->channel, SHUT_RDWR);
    const double deadline = process_clock() + timeout;
    for (unsigned count = 0; (ended = waitpid(self->pid, &status, WNOHANG)) == 0 && process_clock() < deadline; count++)
        process_pause(count);
    if (ended == 0) {
        kill(self->pid, SIGKILL);
        while ((ended = waitpid(self->pid, &status, 0)) < 0 && errno == EINTR) {}
    }
    if (exit_report) {
        read_end(self->output, exit_report, size - 32);
        if (ended == self->pid) describe_end(status, exit_report, size);
    }
    process_forget(self);
}

void process_forget(Process *self) {
    close_all((const int[]){self->channel, self->lifeline, self->output}, 3);
    free(self);
}

long process_self(void) { return (long)getpid(); }

double process_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void process_pause(unsigned count) {
    if (count < 20) {
        sched_yield();
        return;
    }
    const struct timespec nap = {0, count < 100 ? 50000 : 1000000};
    nanosleep(&nap, NULL);
}

/* --- paths -------------------------------------------------------------------------------------------------------- */

int file_exists(const char *path) { return access(path, F_OK) == 0; }

char *full_path(const char *path) { return realpath(path, NULL); }

char *environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? strdup(value) : NULL;
}

char *library_folder(void) {
    Dl_info about;
    union {
        char *(*function)(void);
        void *data;
    } here = {library_folder};
    if (!dladdr(here.data, &about) || !about.dli_fname) return NULL;
    char *path = realpath(about.dli_fname, NULL);
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash) *slash = '\0';
    return path;
}

/* UTF-8 of a text that Python has decoded: U+DC80 to U+DCFF are bytes that were not UTF-8. */
static char *encoded(const wchar_t *wide) {
    char *text = malloc(4 * wcslen(wide) + 1);
    if (!text) return NULL;
    char *next = text;
    for (; *wide; wide++) {
        const unsigned long c = (unsigned long)*wide;
        if (c >= 0xDC80 && c <= 0xDCFF) {
            *next++ = (char)(c - 0xDC00);
        } else if (c < 0x80) {
            *next++ = (char)c;
        } else if (c < 0x800) {
            *next++ = (char)(0xC0 | c >> 6);
            *next++ = (char)(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            *next++ = (char)(0xE0 | c >> 12);
            *next++ = (char)(0x80 | (c >> 6 & 0x3F));
            *next++ = (char)(0x80 | (c & 0x3F));
        } else {
            *next++ = (char)(0xF0 | c >> 18);
            *next++ = (char)(0x80 | (c >> 12 & 0x3F));
            *next++ = (char)(0x80 | (c >> 6 & 0x3F));
            *next++ = (char)(0x80 | (c & 0x3F));
        }
    }
    *next = '\0';
    return text;
}

/* An application that embeds Python is not an interpreter. */
static int is_python(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strncasecmp(name, "python", 6) == 0 || strncasecmp(name, "pypy", 4) == 0;
}

char *own_python(void) {
    union {
        void *data;
        wchar_t *(*function)(void);
    } program = {dlsym(RTLD_DEFAULT, "Py_GetProgramFullPath")}; /* part of the stable ABI, returns a constant */
    const wchar_t *wide = program.data ? program.function() : NULL;
    char *path = wide && *wide ? encoded(wide) : NULL;
    if (path && is_python(path) && access(path, X_OK) == 0) return path;
    free(path);
    return NULL;
}

char *registered_python(void) {
    char *base = environment("XDG_CONFIG_HOME");
    if (!base) {
        const char *home = getenv("HOME");
        if (!home || !*home) return NULL;
#if defined __APPLE__
        base = path_join(home, "Library/Application Support");
#else
        base = path_join(home, ".config");
#endif
    }
    char *name = base ? path_join(base, "mechfmu/python") : NULL;
    FILE *file = name ? fopen(name, "r") : NULL;
    char line[PATH_MAX + 2] = "";
    if (file) {
        if (!fgets(line, sizeof line, file)) line[0] = '\0';
        fclose(file);
    }
    free(name);
    free(base);
    line[strcspn(line, "\r\n")] = '\0';
    return line[0] ? strdup(line) : NULL;
}

char *virtual_environment_python(const char *folder) { return path_join(folder, "bin/python"); }

static int is_program(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* The program number `index` of that name in the folders of the path. */
static char *nth_program(const char *name, size_t index) {
    const char *path = getenv("PATH") ? getenv("PATH") : "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        const size_t n = strcspn(path, ":");
        char *folder = n ? strndup(path, n) : strdup(".");
        char *program = folder ? path_join(folder, name) : NULL;
        free(folder);
        if (program && is_program(program) && index-- == 0) return program;
        free(program);
        path += n + (path[n] == ':');
    }
    return NULL;
}

char *find_program(const char *name) { return strchr(name, '/') ? strdup(name) : nth_program(name, 0); }

char *python_on_path(size_t index, const char **before) {
    *before = NULL;
    const char *const names[] = {"python3", "python"};
    for (size_t i = 0; i < 2; i++) {
        size_t count = 0;
        for (char *found; (found = nth_program(names[i], count)) != NULL; count++) {
            if (index-- == 0) return found;
            free(found);
        }
    }
    return NULL;
}
#endif
