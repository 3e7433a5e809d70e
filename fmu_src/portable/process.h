/* What the operating system is needed for: a Python process and a channel to it, and where things are. All texts are UTF-8. */
#ifndef MECHFMU_PROCESS_H
#define MECHFMU_PROCESS_H

#include <stddef.h>

typedef struct Process Process;

typedef enum { DONE, GONE, LATE } Transfer; /* GONE: the process has closed its end; LATE: the deadline has passed */

/* Starts `python script`, with numbers behind that tell the script where its ends of channel, lifeline and output are, and the number of this process. `before`
 * is an argument in front of the script, or NULL.
 * With keep_home the variable PYTHONHOME is handed on. NULL and a reason when the system cannot start it. */
Process *process_start(const char *python, const char *before, const char *script, int keep_home, const char **why);

/* All n bytes; respectively between 1 and `most` of them. deadline: by process_clock(), 0 for none. */
Transfer process_send(Process *process, const void *bytes, size_t n, double deadline);
Transfer process_receive(Process *process, void *bytes, size_t most, size_t *n, double deadline);

/* Whether it has not ended. */
int process_alive(Process *process);

/* Closes the channel, which ends a process that listens, waits so many seconds for the end, then kills it. `last_words` receives the end of what it has
 * written on its standard output and error since it last took note of it (the position of its output), and how it ended; it may be NULL. */
void process_end(Process *process, double patience, char *last_words, size_t size);

/* Lets go of a process of which this one is only a forked copy of the owner. */
void process_forget(Process *process);

long process_self(void);    /* the number of this process; another one in a forked copy */
double process_clock(void); /* seconds */
void process_nap(unsigned count); /* a wait that grows with the count */

/* Texts that are to be freed, or NULL. */
char *path_join(const char *folder, const char *name);
char *library_folder(void);                     /* where this library lies */
char *resources_of_uri(const char *uri);        /* the folder that fmuResourceLocation names */
char *environment(const char *name);            /* NULL also where it is empty */
char *own_python(void);                         /* the interpreter of this process, when it is a Python process */
char *registered_python(void);                  /* the first line of mechfmu/python in the user's configuration folder */
char *virtual_environment_python(const char *folder);
char *python_on_path(size_t index, const char **before); /* one after the other; `before` is an argument that goes first, or NULL */
char *find_program(const char *name);           /* on the path, unless it is a path itself */
char *full_path(const char *path);              /* without . and .., so that an FMU has one name */
int file_exists(const char *path);

#endif
