// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wb/task.h"

enum { ROOM = 4096, ROOM_MAX = 1 << 20 };

static void make_room(struct lines *lines)
{
    if (lines->next != 0) {
        memmove(lines->buffer, lines->buffer + lines->next, lines->used - lines->next);
        lines->used -= lines->next;
        lines->next = 0;
    }
    if (lines->used < lines->room)
        return;
    const size_t room = lines->room == 0 ? ROOM : 2 * lines->room;
    char *buffer = room <= ROOM_MAX ? realloc(lines->buffer, room) : NULL;
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

char *lines_next(struct lines *lines)
{
    if (lines->next == lines->used)
        return NULL;
    char *line = lines->buffer + lines->next;
    char *end = memchr(line, '\n', lines->used - lines->next);
    if (end == NULL)
        return NULL;
    *end = '\0';
    lines->next = (size_t)(end - lines->buffer) + 1;
    return line;
}

static int hex(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static bool unescape(char *word)
{
    char *to = word;

    for (const char *from = word; *from != '\0'; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        const int high = hex(from[1]);
        const int low = high >= 0 ? hex(from[2]) : -1;
        if (low < 0)
            return false;
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return true;
}

bool words_split(struct words *words, char *line)
{
    words->count = 0;
    for (char *word = strsep(&line, " "); word != NULL; word = strsep(&line, " ")) {
        if (words->count == words->room) {
            const uint32_t room = words->room == 0 ? 32 : 2 * words->room;
            char **grown = realloc(words->word, room * sizeof *grown);
            if (grown == NULL)
                return false;
            words->word = grown;
            words->room = room;
        }
        if (!unescape(word))
            return false;
        words->word[words->count++] = word;
    }
    return words->count != 0;
}

bool words_number(const char *word, uint64_t *number)
{
    char *end;

    if (strcmp(word, "forever") == 0) {
        *number = WB_FOREVER;
        return true;
    }
    if (*word < '0' || *word > '9')
        return false;
    errno = 0;
    *number = strtoull(word, &end, 10);
    return errno == 0 && *end == '\0';
}

void lines_free(struct lines *lines)
{
    free(lines->buffer);
}

void words_free(struct words *words)
{
    free(words->word);
}
