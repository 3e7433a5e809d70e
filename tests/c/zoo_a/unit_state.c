/* Saved FMU states. A state is known to the instance that made it until it is freed. */
#include <stdlib.h>

#include "defect.h"
#include "unit.h"

static const char MAGIC[8] = "THERMO1";

typedef struct {
    char magic[8];
    size_t size, text;
    unsigned sum;
} Header;

static unsigned checksum(const char *bytes, size_t n) {
    unsigned sum = 2166136261U;
    for (size_t k = 0; k < n; k++) sum = (sum ^ (unsigned char)bytes[k]) * 16777619U;
    return sum;
}

static int known_state(const Unit *u, const void *state) {
    for (const Saved *s = u->saved; s; s = s->next)
        if (s == state) return 1;
    return 0;
}

static int off(Unit *u, int phases, Text what) {
    if (!legal(u, phases, what)) return 1;
    if (!IS("c_no_optional_functions")) return 0;
    refuse(u, "FMU states are not supported");
    return 1;
}

Status fmi2GetFMUstate(void *c, void **state) {
    static Saved *only;
    Unit *u = c;
    int phases = ANY;
    if (IS("d3_no_state_terminated")) phases &= ~DONE;
    if (IS("d3_no_state_instantiated")) phases &= ~INSTANTIATED;
    if (off(u, phases, "fmi2GetFMUstate")) return FAILED;
    if (!state) return refuse(u, "a null pointer");
    Saved *s = *state;
    if (IS("d16_state_not_reused")) s = NULL;
    if (s && !known_state(u, s)) return refuse(u, "not an FMU state of this instance");
    if (!s && IS("d6_one_state_only") && only && known_state(u, only)) s = only;
    if (!s) {
        size_t history = IS("d16_state_leaks") || IS("d16_state_not_reused") ? 20000 : 0; /* for a visible leak */
        s = take(u, sizeof *s + history);
        if (!s) return refuse(u, "no memory");
        memset(s + 1, 1, history);
        s->next = u->saved;
        u->saved = only = s;
    }
    copy_memory(u, &s->m, &u->m);
    *state = s;
    return OK;
}

static void remove_state(Unit *u, Saved *s) {
    for (Saved **at = &u->saved; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    if (IS("d16_state_leaks")) return;
    release_memory(u, &s->m);
    drop(u, s);
}

Status fmi2SetFMUstate(void *c, void *state) {
    Unit *u = c;
    if (off(u, ANY, "fmi2SetFMUstate")) return FAILED;
    if (IS("r4_null_state") && !state) abort();
    if (IS("r4_freed_state") && state && !known_state(u, state)) abort();
    if (!state || !known_state(u, state)) return refuse(u, "not an FMU state of this instance");
    Saved *s = state;
    if (IS("d6_no_way_back") && s->m.p.r[TIME] < u->m.p.r[TIME]) return refuse(u, "back in time");
    copy_memory(u, &u->m, &s->m);
    if (IS("d6_state_used_up")) remove_state(u, s);
    return OK;
}

Status fmi2FreeFMUstate(void *c, void **state) {
    Unit *u = c;
    if (off(u, ANY, "fmi2FreeFMUstate")) return FAILED;
    if (!state || !*state) {
        if (IS("d6_free_null_fails") && state) return refuse(u, "no state");
        if (IS("d6_free_null_crashes") && state) abort();
        return OK;
    }
    if (IS("r4_double_free") && !known_state(u, *state)) abort();
    if (!known_state(u, *state)) return refuse(u, "not an FMU state of this instance");
    remove_state(u, *state);
    if (!IS("d6_pointer_stays")) *state = NULL;
    return OK;
}

static size_t text_size(const Saved *s) {
    size_t size = 0;
    for (int k = 0; k < STRINGS; k++) size += strlen(s->m.s[k]) + 1;
    return size;
}

static int usable(Unit *u, void *state, Text what) {
    if (off(u, ANY, what)) return 0;
    if (state && known_state(u, state)) return 1;
    if (IS("r4_serialize_foreign")) abort();
    refuse(u, "not an FMU state of this instance");
    return 0;
}

Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size) {
    if (!usable(c, state, "fmi2SerializedFMUstateSize")) return FAILED;
    if (!size) return refuse(c, "a null pointer");
    *size = sizeof(Header) + sizeof(Plain) + text_size(state);
    if (IS("d6_size_too_small")) *size -= 16;
    return OK;
}

Status fmi2SerializeFMUstate(void *c, void *state, char bytes[], size_t size) {
    if (!usable(c, state, "fmi2SerializeFMUstate")) return FAILED;
    const Saved *s = state;
    Header h = {.size = sizeof(Plain), .text = text_size(s)};
    size_t needed = sizeof h + h.size + h.text;
    if (!bytes || (size < needed && !IS("d6_size_too_small"))) return refuse(c, "the byte vector is too short");
    memcpy(h.magic, MAGIC, sizeof h.magic);
    char *at = bytes + sizeof h;
    memcpy(at, &s->m.p, sizeof(Plain));
    at += sizeof(Plain);
    for (int k = 0; k < STRINGS; k++) {
        size_t n = strlen(s->m.s[k]) + 1;
        memcpy(at, s->m.s[k], n);
        if (IS("d6_bytes_without_strings") && k == NOTE) memset(at, '-', n - 1);
        at += n;
    }
    if (IS("d6_bytes_without_counter")) memset(bytes + sizeof h + offsetof(Plain, i) + SWITCHES * sizeof(int), 0, 4);
    h.sum = checksum(bytes + sizeof h, needed - sizeof h);
    memcpy(bytes, &h, sizeof h);
    return OK;
}

Status fmi2DeSerializeFMUstate(void *c, const char bytes[], size_t size, void **state) {
    Unit *u = c;
    if (off(u, ANY, "fmi2DeSerializeFMUstate")) return FAILED;
    Header h;
    if (!bytes || !state) return refuse(u, "a null pointer");
    if (IS("r4_truncated") && size < sizeof h + sizeof(Plain)) abort();
    if (size < sizeof h) return refuse(u, "not the bytes of an FMU state");
    memcpy(&h, bytes, sizeof h);
    int fits = h.size == sizeof(Plain) && h.text < ((size_t)1 << 40) && size >= sizeof h + h.size + h.text;
    if (IS("d6_size_too_small")) fits = 1;
    int intact =
        fits && !memcmp(h.magic, MAGIC, sizeof h.magic) && h.sum == checksum(bytes + sizeof h, sizeof(Plain) + h.text);
    if (IS("r4_no_checksum") && !intact) {
        if (size > sizeof h + sizeof(Plain)) abort();
        return refuse(u, "too short");
    }
    if (!intact) return refuse(u, "not the bytes of an FMU state");
    if (IS("d6_bytes_of_own_instance") && !u->saved) return refuse(u, "not the bytes of this instance");
    Saved *s = take(u, sizeof *s);
    if (!s) return refuse(u, "no memory");
    memcpy(&s->m.p, bytes + sizeof h, sizeof(Plain));
    const char *at = bytes + sizeof h + sizeof(Plain);
    for (int k = 0; k < STRINGS; k++) {
        size_t n = strlen(at) + 1;
        s->m.s[k] = take(u, n);
        if (s->m.s[k]) memcpy(s->m.s[k], at, n);
        at += n;
    }
    if (IS("d16_bytes_leak")) {
        char *lost = take(u, 8192);
        if (lost) memset(lost, 1, 8192);
    }
    s->next = u->saved;
    u->saved = s;
    *state = s;
    return OK;
}
