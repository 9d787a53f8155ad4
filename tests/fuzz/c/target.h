// SPDX-License-Identifier: Apache-2.0
// A target of libFuzzer: one input, as often as it likes.
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/// What must hold, whatever the input is.
#define MUST(condition) ((condition) ? (void)0 : abort())

/// A copy with a zero behind it; the caller frees it.
static inline char *text_of(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);

    MUST(text != NULL);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    return text;
}

/// Takes the part of an input up to a byte of its own, or all of it; moves `*data` behind it.
static inline size_t part(const uint8_t **data, size_t *bytes, uint8_t end, const uint8_t **begin)
{
    const uint8_t *at = *bytes > 0 ? memchr(*data, end, *bytes) : NULL;
    const size_t n = at != NULL ? (size_t)(at - *data) : *bytes;
    const size_t taken = at != NULL ? n + 1 : n;

    *begin = *data;
    *data += taken;
    *bytes -= taken;
    return n;
}

#endif
