// SPDX-License-Identifier: Apache-2.0
// What libjpeg asks of its surroundings: what every C11 compiler gives.
#define JPEG_LIB_VERSION 62
#define LIBJPEG_TURBO_VERSION 2.1
#define BITS_IN_JSAMPLE 8
#define MEM_SRCDST_SUPPORTED 1
#define NO_GETENV 1
#define NO_PUTENV 1
