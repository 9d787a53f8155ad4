// SPDX-License-Identifier: Apache-2.0
// What an application's image exports to its module besides what every kernel does (exports.c of
// kernels/freertos): files, and text.

#include <ctype.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../kernels/freertos/loader/export.h"

#ifdef _U
WB_EXPORT(_ctype_);  // what isdigit() and others look into, by macros of Newlib
#endif
WB_EXPORT(_impure_ptr);  // stdin, stdout, stderr
WB_EXPORT(close);
WB_EXPORT(fclose);
WB_EXPORT(fflush);
WB_EXPORT(fgets);
WB_EXPORT(fopen);
WB_EXPORT(fprintf);
WB_EXPORT(fputs);
WB_EXPORT(fread);
WB_EXPORT(fseek);
WB_EXPORT(fstat);
WB_EXPORT(ftell);
WB_EXPORT(fwrite);
WB_EXPORT(longjmp);
WB_EXPORT(lseek);
WB_EXPORT(open);
WB_EXPORT(pread);
WB_EXPORT(printf);
WB_EXPORT(putchar);
WB_EXPORT(puts);
WB_EXPORT(pwrite);
WB_EXPORT(qsort);
WB_EXPORT(read);
WB_EXPORT(setjmp);
WB_EXPORT(sscanf);
WB_EXPORT(strcspn);
WB_EXPORT(strerror);
WB_EXPORT(strspn);
WB_EXPORT(strtod);
WB_EXPORT(strtol);
WB_EXPORT(strtoll);
WB_EXPORT(strtoul);
WB_EXPORT(strtoull);
WB_EXPORT(write);
