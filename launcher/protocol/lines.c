// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 4096 };

static void make_room(struct lines *lines)
{
    if (lines->next != 0) {
        memmove(lines->buffer, lines->buffer + lines->next, lines->used - lines->next);
        lines->used -= lines->next;
        lines->looked -= lines->next;
        lines->next = 0;
    }
    if (lines->used < lines->room)
        return;
    const size_t room = lines->room == 0 ? ROOM : 2 * lines->room;
    char *buffer = room <= lines->most ? realloc(lines->buffer, room) : NULL;
    if (buffer == NULL) {
        lines->closed = true;
        return;
    }
    lines->buffer = buffer;
    lines->room = room;
}

void lines_read(struct lines *lines)
{
    make_room(lines);
    if (lines->closed)
        return;
    const ssize_t n = read(lines->fd, lines->buffer + lines->used, lines->room - lines->used);
    if (n > 0)
        lines->used += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        lines->closed = true;
}

char *lines_next(struct lines *lines, size_t *bytes)
{
    if (lines->looked == lines->used)
        return NULL;
    char *line = lines->buffer + lines->next;
    char *end = memchr(lines->buffer + lines->looked, '\n', lines->used - lines->looked);
    lines->looked = lines->used;
    if (end == NULL)
        return NULL;
    *end = '\0';
    *bytes = (size_t)(end - line);
    lines->looked = lines->next = (size_t)(end - lines->buffer) + 1;
    return line;
}

void lines_shrink(struct lines *lines)
{
    const size_t rest = lines->used - lines->next;
    char *buffer = malloc(rest + ROOM);

    if (buffer == NULL)
        return;
    memcpy(buffer, lines->buffer + lines->next, rest);
    free(lines->buffer);
    lines->buffer = buffer;
    lines->room = rest + ROOM;
    lines->used = rest;
    lines->looked -= lines->next;
    lines->next = 0;
}

void lines_forget(struct lines *lines)
{
    lines->used = lines->next = lines->looked = 0;
    lines->closed = false;
}

void lines_free(struct lines *lines)
{
    free(lines->buffer);
}
