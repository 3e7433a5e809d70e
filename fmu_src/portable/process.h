/* The operating system: a Python process, the channel to it, and paths. All texts are UTF-8. */
#ifndef MECHFMU_PROCESS_H
#define MECHFMU_PROCESS_H

#include <stddef.h>

typedef struct Process Process;

typedef enum { DONE, CLOSED, TIMED_OUT } Transfer; /* CLOSED: by the process; TIMED_OUT: the deadline has passed */

/* Starts `python before script` with the descriptors of channel, lifeline and output and the id of this process as
 * arguments. `before` is an option or NULL. With keep_home the variable PYTHONHOME is passed on. NULL and a reason when
 * the system cannot start it. */
Process *process_start(const char *python, const char *before, const char *script, int keep_home, const char **why);

/* Sends n bytes; receives between 1 and `most` bytes. deadline: a time of process_clock(), or 0. */
Transfer process_send(Process *process, const void *bytes, size_t n, double deadline);
Transfer process_receive(Process *process, void *bytes, size_t most, size_t *n, double deadline);

int process_alive(Process *process);

/* Closes the channel, upon which the process should exit; kills it after the timeout in seconds. `exit_report`, unless
 * NULL, receives the end of what it has printed and not sent as messages (from the position of its output on), and its
 * exit status. */
void process_end(Process *process, double timeout, char *exit_report, size_t size);

/* Releases the resources without ending the process: for a forked copy of the host. */
void process_forget(Process *process);

long process_self(void);            /* the id of this process */
double process_clock(void);         /* seconds */
void process_pause(unsigned count); /* a pause that grows with the count */

/* Texts that the caller frees, or NULL. */
char *path_join(const char *folder, const char *name);
char *library_folder(void);              /* of this library */
char *resources_of_uri(const char *uri); /* the folder of fmuResourceLocation */
char *environment(const char *name);     /* NULL also when it is empty */
char *own_python(void);                  /* the interpreter of this process, if it is one */
char *registered_python(void);           /* the first line of mechfmu/python in the user's configuration folder */
char *virtual_environment_python(const char *folder);
char *python_on_path(size_t index, const char **before); /* `before`: its option, or NULL */
char *find_program(const char *name);                    /* on the path, unless it contains a folder */
char *full_path(const char *path);                       /* without . and .., so that a folder has one name */
int file_exists(const char *path);

#endif
