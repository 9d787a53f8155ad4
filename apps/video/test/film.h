// SPDX-License-Identifier: Apache-2.0
// The film that the tests play, and what is made of it.
#ifndef VIDEO_TEST_FILM_H
#define VIDEO_TEST_FILM_H

#include <stddef.h>
#include <stdint.h>

enum { FILM_FRAMES = 25, FILM_WIDTH = 160, FILM_HEIGHT = 120 };

struct film {
    uint8_t *file;  // the test's own
    size_t bytes;
};

/// Reads data/small.avi.
///
/// Memory:  the caller frees `file`.
struct film film_read(void);

/// The checksums of its frames, from data/small.framecrc.
const uint32_t *film_checksums(void);

/// Where a name of four letters is, from `from` on. Fails the test if it is nowhere.
size_t film_find(const struct film *film, const char *name, size_t from);

#endif
