// SPDX-License-Identifier: Apache-2.0
// memcpy() and memset() by words: picolibc's are the smallest, byte by byte.

#include <stdint.h>
#include <string.h>

typedef uint32_t __attribute__((may_alias)) word;

enum { WORD = sizeof(word), BURST = 4 * WORD };

// A store of a word goes to memory by itself, so four loads first: they are from one line.
static void copy_words(word *restrict out, const word *restrict in, size_t bytes)
{
    for (; bytes >= BURST; bytes -= BURST, out += 4, in += 4) {
        const word a = in[0], b = in[1], c = in[2], d = in[3];
        out[0] = a;
        out[1] = b;
        out[2] = c;
        out[3] = d;
    }
    for (; bytes >= WORD; bytes -= WORD)
        *out++ = *in++;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    unsigned char *out = to;
    const unsigned char *in = from;

    if ((((uintptr_t)out ^ (uintptr_t)in) % WORD) == 0) {
        for (; (uintptr_t)out % WORD != 0 && bytes != 0; bytes--)
            *out++ = *in++;
        const size_t in_words = bytes - bytes % WORD;
        copy_words((word *)(void *)out, (const word *)(const void *)in, in_words);
        out += in_words;
        in += in_words;
        bytes -= in_words;
    }
    for (; bytes != 0; bytes--)
        *out++ = *in++;
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    unsigned char *out = to;
    const word wide = (unsigned char)value * 0x01010101u;

    for (; (uintptr_t)out % WORD != 0 && bytes != 0; bytes--)
        *out++ = (unsigned char)value;
    for (; bytes >= BURST; bytes -= BURST, out += BURST) {
        word *const four = (word *)(void *)out;
        four[0] = four[1] = four[2] = four[3] = wide;
    }
    for (; bytes >= WORD; bytes -= WORD, out += WORD)
        *(word *)(void *)out = wide;
    for (; bytes != 0; bytes--)
        *out++ = (unsigned char)value;
    return to;
}
