/* The chosen defect or variant: a placeholder that the builder overwrites in the compiled library. */
#ifndef ZOO_DEFECT_H
#define ZOO_DEFECT_H

#include <string.h>

extern const volatile char defect_tag[64];
#define IS(name) (strcmp((const char *)defect_tag + 8, name) == 0)

#endif
