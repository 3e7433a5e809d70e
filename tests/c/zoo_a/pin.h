/* Old versions of the symbols of the C library, so that the units load on old systems too. */
#ifndef ZOO_PIN_H
#define ZOO_PIN_H

#if defined __x86_64__ && defined __GLIBC__
__asm__(".symver pthread_create,pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_join,pthread_join@GLIBC_2.2.5");
__asm__(".symver pthread_detach,pthread_detach@GLIBC_2.2.5");
__asm__(".symver exp,exp@GLIBC_2.2.5");
#endif

#endif
