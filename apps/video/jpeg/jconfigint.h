// SPDX-License-Identifier: Apache-2.0
// What libjpeg asks of the compiler: gcc's words, and those of clang.
#include <stddef.h>
#include <stdint.h>

#define BUILD "whimbrel"
#define PACKAGE_NAME "mozjpeg"
#define VERSION "2.1"
#define INLINE inline __attribute__((always_inline))
#define HIDDEN __attribute__((visibility("hidden")))
#define FALLTHROUGH __attribute__((fallthrough));
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define HAVE_BUILTIN_CTZL 1
