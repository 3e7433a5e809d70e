/* Paths, the same on every system: Windows accepts slashes, too. */
#include "process.h"

#include <stdlib.h>
#include <string.h>

char *path_join(const char *folder, const char *name) {
    const size_t n = strlen(folder);
    char *path = malloc(n + strlen(name) + 2);
    if (!path) return NULL;
    memcpy(path, folder, n);
    strcpy(path + n, n && folder[n - 1] != '/' && folder[n - 1] != '\\' ? "/" : "");
    strcat(path, name);
    return path;
}

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static int is_drive(const char *path) {
    const char letter = (char)(path[0] | 0x20);
    return letter >= 'a' && letter <= 'z' && path[1] == ':';
}

/* file:///folder, file:/folder, file://host/folder, or a plain path, as some hosts pass it. */
char *resources_of_uri(const char *uri) {
    if (!uri) return NULL;
    const int is_uri = strncmp(uri, "file:", 5) == 0 || strncmp(uri, "FILE:", 5) == 0;
    char *path = malloc(strlen(uri) + 1);
    if (!path) return NULL;
    size_t n = 0;
    for (const char *c = is_uri ? uri + 5 : uri; *c; c++) {
        const int high = c[0] == '%' && is_uri ? hex(c[1]) : -1;
        const int low = high >= 0 ? hex(c[2]) : -1;
        path[n++] = low >= 0 ? (char)(high * 16 + low) : *c;
        if (low >= 0) c += 2;
    }
    while (n > 1 && path[n - 1] == '/') n--;
    path[n] = '\0';
    char *start = path;
    if (is_uri && strncmp(path, "//", 2) == 0) {
        start = strchr(path + 2, '/'); /* after the host name, which is usually empty */
#if defined _WIN32
        if (start && start > path + 2 && strncmp(path + 2, "localhost/", 10) != 0) start = path; /* a network folder */
#endif
    }
    if (start && start[0] == '/' && is_drive(start + 1)) start++;
    if (start) memmove(path, start, strlen(start) + 1);
    return path;
}
