/* The protocol between the FMU's library and its Python process. Every message begins with the size of the rest as a
 * 64-bit integer, then
 *
 *     request    operation, instance             32-bit integers, then the arguments of the operation
 *     reply      status, number of messages      32-bit integers
 *                the messages: status, bytes in the category, bytes in the text (32-bit integers), category, text;
 *                each text ends with a zero byte
 *                the results of the operation
 *
 * Numbers are little-endian; texts within requests and replies are a 64-bit size, the bytes, and a zero byte. The other
 * side is mechfmu_child.py. */
#ifndef MECHFMU_PROTOCOL_H
#define MECHFMU_PROTOCOL_H

/* request -> reply */
typedef enum {
    OP_INSTANTIATE, /* name, folder of the resources, visible, logging on */
    OP_FREE,
    OP_LOGGING, /* on, number of categories, categories */
    OP_SETUP,   /* tolerance or NaN, start, stop or NaN */
    OP_ENTER,
    OP_EXIT,
    OP_TERMINATE,
    OP_RESET,
    OP_GET, /* kind, n, n references -> n values */
    OP_SET, /* kind, n, n references, n values */
    /* t, h, whether lists follow, for Real, Integer, Boolean: n, n references
     * -> wants to stop, whether values follow, values */
    OP_STEP,
    OP_SAVE,       /* number of the state -> */
    OP_RESTORE,    /* number of the state */
    OP_FORGET,     /* number of the state */
    OP_SERIALIZE,  /* number of the state -> text */
    OP_DESERIALIZE /* number of the state, text */
} Operation;

typedef enum { KIND_REAL, KIND_INTEGER, KIND_BOOLEAN, KIND_STRING } ValueKind;

/* The first message, from the process: this number, the seconds that a call may take (0: any), the GUID. */
enum { HELLO = 0x6d656368 };

#endif
