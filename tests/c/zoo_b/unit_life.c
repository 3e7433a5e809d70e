/* What happens besides the mathematics: processes, files, memory, time, crashes. */
#define _GNU_SOURCE
#include "tank.h"

#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifdef UNRESOLVED
extern int tool_runtime_license(int);
#endif

static const volatile char DEFECT[256] = "@defect:none                                                             ";

static const char *const NAMES[] = {
#define DEFECT_NAME(name) #name,
    DEFECTS(DEFECT_NAME)
#undef DEFECT_NAME
};

static unsigned char active[sizeof NAMES / sizeof NAMES[0]];
static int parsed;

/* reads the list of names behind the colon, separated by commas */
static void parse(void) {
    char text[sizeof DEFECT + 1] = {0};
    char *rest = text + 8, *word;
    for (size_t i = 0; i < sizeof DEFECT; i++) text[i] = DEFECT[i];
    while ((word = strsep(&rest, ", "))) {
        if (!*word) continue;
        for (size_t i = 0; i < sizeof active; i++)
            if (strcmp(word, NAMES[i]) == 0) active[i] = 1;
    }
    parsed = 1;
}

int bug_active(int id) {
    if (!parsed) parse();
    return active[id];
}

static void pause_for(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&t, &t)) {}
}

static void *sleeper(void *unused) {
    (void)unused;
    pause_for(600.0);
    return NULL;
}

static void start_sleeper(void) {
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    if (!pthread_create(&thread, &small, sleeper, NULL)) pthread_detach(thread);
    pthread_attr_destroy(&small);
}

static void leave_child(double seconds) {
    pid_t child = fork();
    if (child) return;
    if (seconds > 0) {
        for (int fd = 0; fd < 256; fd++) close(fd);
        pause_for(seconds);
    }
    _exit(0);
}

static void write_file(const char *path) {
    FILE *f = fopen(path, "a");
    if (!f) return;
    fputs("level,flow\n", f);
    fclose(f);
}

static void at_exit_crash(void) { abort(); }
static void at_exit_status(void) { _exit(3); }

__attribute__((constructor)) static void loaded(void) {
    if (BUG(load_abort)) abort();
    if (BUG(load_exit)) _exit(1);
    if (BUG(exit_crash)) atexit(at_exit_crash);
    if (BUG(exit_status)) atexit(at_exit_status);
}

void life_on_load(void) {
    static int once;
    if (once) return;
    once = 1;
#ifdef UNRESOLVED
    once = tool_runtime_license(1);
#endif
    if (BUG(reserve)) mmap(NULL, (size_t)16 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void life_on_instantiate(Unit *u) {
    static int count;
    (void)u;
    if (BUG(slow_instantiate)) pause_for(5.0);
    if (BUG(leak_instance)) memset(malloc(20000), 1, 20000);
    if (BUG(leak_fd_instance)) (void)!open("/dev/null", O_RDONLY);
    if (BUG(leak_thread_instance)) start_sleeper();
    if (BUG(leak_child_instance) && count++ < 200) leave_child(0.0);
    if (BUG(child_holds) && count++ < 20 && fork() == 0) { /* with all its descriptors */
        pause_for(300.0);
        _exit(0);
    }
    if (BUG(second_differs) && ++count == 2 && u->model == &TANK) ((Tank *)u->data)->r.h1 += 0.01;
    if (BUG(file_lock)) write_file("tankpair.lock");
}

/* once per communication step or completed integrator step */
void life_on_step(Unit *u) {
    double t = *unit_time(u);
    static int children;
    int late = t > LATE;
    if (BUG(abort_late) && late) abort();
    if (BUG(segv_late) && late) raise(SIGSEGV);
    if (BUG(exit_late) && late) exit(0);
    if (BUG(hang_late) && late)
        for (;;) pause_for(1.0);
    if (BUG(spin_late) && late)
        for (volatile double x = 0;; x += 1.0) {}
    if (BUG(slow_once) && late && children++ == 0) pause_for(3.0);
    if (BUG(slow_steps)) pause_for(0.12);
    if (BUG(memory_steps)) memset(malloc(200000), 1, 200000);
    if (BUG(fd_steps)) (void)!open("/dev/null", O_RDONLY);
    if (BUG(thread_steps) && late) start_sleeper();
    if (BUG(child_late) && late && children++ == 0) leave_child(300.0);
    if (BUG(zombies) && late && children++ < 40) leave_child(0.0);
    if (BUG(file_here) && late) write_file("tankpair_trace.csv");
    if (BUG(file_temporary) && late) {
        const char *place = getenv("TMPDIR");
        char path[4096];
        snprintf(path, sizeof path, "%s/tankpair_trace.csv", place ? place : "/tmp");
        write_file(path);
    }
    if (BUG(chdir_late) && late) (void)!chdir("/");
    if (BUG(rounding_late) && late) fesetround(FE_UPWARD);
    if (BUG(signal_taken) && late) signal(SIGINT, SIG_IGN);
    if (BUG(flush_late) && late) __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
    if (BUG(mask_late) && late) umask(0777);
    if (BUG(prints) && fputs("tank step\n", stdout) >= 0) fflush(stdout);
}

/* a status that a defect returns instead of making the step; 0 if there is none */
int life_status(Unit *u, fmi2Status *status) {
    int late = *unit_time(u) > LATE;
    *status = fmi2OK;
    if (BUG(error_late) && late) *status = fail(u, "the solver does not converge");
    if (BUG(fatal_late) && late) {
        say(u, fmi2Fatal, "logStatusError", "the solver is broken");
        *status = fmi2Fatal;
    }
    if (*status != fmi2OK) u->core.mode = BROKEN;
    return *status != fmi2OK;
}
