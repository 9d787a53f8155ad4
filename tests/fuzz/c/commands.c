// SPDX-License-Identifier: Apache-2.0
// Lines, as a helper and a board read them from the command.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "lines.h"
#include "parse.h"
#include "target.h"

enum { MOST = 1 << 14 };

static void take(const char *line, size_t bytes)
{
    yyjson_alc *memory = yyjson_alc_dyn_new();
    struct parse_error error = { 0 };
    struct command command = { 0 };
    struct plan_start start = { 0 };

    MUST(memory != NULL);
    if (!parse_command(memory, line, bytes, &command, &error))
        MUST(error.text[0] != '\0');
    (void)parse_start(memory, line, bytes, &start, &error);
    yyjson_alc_dyn_free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static int fd = -1;
    struct lines lines = { .most = MOST };
    const char *line;
    size_t n;

    if (fd < 0)
        fd = memfd_create("lines", MFD_CLOEXEC);
    MUST(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    MUST(lseek(fd, 0, SEEK_SET) == 0);
    lines.fd = fd;
    while (!lines.closed) {
        lines_read(&lines);
        while ((line = lines_next(&lines, &n)) != NULL)
            take(line, n);
    }
    lines_free(&lines);
    return 0;
}
