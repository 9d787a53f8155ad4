// SPDX-License-Identifier: Apache-2.0
// The files of an application: its input is linked into the program; there are no others.
#include <stdio.h>
#include <string.h>

#include "common/file.h"

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "input_begin: .incbin \"" INPUT "\"\n"
        "input_end:\n"
        ".popsection");

extern const uint8_t input_begin[], input_end[];

bool file_open(struct wb_app *app, struct file *file, const char *key)
{
    (void)app;
    (void)key;
    file->fd = 0;
    file->bytes = (uint64_t)(input_end - input_begin);
    return true;
}

bool file_create(struct wb_app *app, struct file *file, const char *key, const char *suffix)
{
    (void)app;
    (void)key;
    (void)suffix;
    file->fd = -1;
    return true;
}

bool file_refuse(struct wb_app *app, const char *key, const char *reason)
{
    snprintf(app->error, sizeof app->error, "%s cannot be used: %s", key, reason);
    return false;
}

void file_warn(struct wb_app *app, const char *key, const char *text)
{
    (void)app;
    fprintf(stderr, "warning: %s: %s\n", key, text);
}

int64_t file_read_at(const struct file *file, void *data, size_t bytes, uint64_t place)
{
    const uint64_t left = place < file->bytes ? file->bytes - place : 0;
    const size_t n = bytes < left ? bytes : (size_t)left;

    memcpy(data, input_begin + place, n);
    return (int64_t)n;
}

bool file_write_at(const struct file *file, const void *data, size_t bytes, uint64_t place)
{
    (void)file;
    (void)data;
    (void)bytes;
    (void)place;
    return true;
}

void file_close(struct file *file)
{
    (void)file;
}
