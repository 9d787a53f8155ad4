// SPDX-License-Identifier: Apache-2.0
#include "film.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct film film_read(void)
{
    FILE *file = fopen("data/small.avi", "rb");
    struct film film;

    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    film.bytes = (size_t)ftell(file);
    film.file = malloc(film.bytes);
    rewind(file);
    CHECK(film.file && fread(film.file, 1, film.bytes, file) == film.bytes);
    fclose(file);
    return film;
}

const uint32_t *film_checksums(void)
{
    static uint32_t checksums[FILM_FRAMES];
    FILE *file = fopen("data/small.framecrc", "r");

    CHECK(file);
    for (int i = 0; i < FILM_FRAMES; i++)
        CHECK(fscanf(file, " 0, %*d, %*d, %*d, %*d, %" SCNx32, &checksums[i]) == 1);
    fclose(file);
    return checksums;
}

size_t film_find(const struct film *film, const char *name, size_t from)
{
    for (; from + 4 <= film->bytes; from++)
        if (memcmp(film->file + from, name, 4) == 0)
            return from;
    CHECK(!"the film has no such name");
}
