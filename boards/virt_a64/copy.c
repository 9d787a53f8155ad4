// SPDX-License-Identifier: Apache-2.0
// Copying and filling by pairs of registers: in picolibc, as distributions build it, these go byte
// by byte, and what begins on a stack fills all of it first.

#include <stdint.h>
#include <string.h>

// At any address: alignment is not checked (mmu.c).
struct __attribute__((packed, may_alias)) pair {
    uint64_t low, high;
};

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    const unsigned char *source = from;
    unsigned char *at = to;

    for (; bytes >= sizeof(struct pair); bytes -= sizeof(struct pair)) {
        *(struct pair *)at = *(const struct pair *)source;
        at += sizeof(struct pair);
        source += sizeof(struct pair);
    }
    while (bytes-- != 0)
        *at++ = *source++;
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    const uint64_t word = (unsigned char)value * UINT64_C(0x0101010101010101);
    unsigned char *at = to;

    for (; bytes >= sizeof(struct pair); bytes -= sizeof(struct pair)) {
        *(struct pair *)at = (struct pair){ word, word };
        at += sizeof(struct pair);
    }
    while (bytes-- != 0)
        *at++ = (unsigned char)value;
    return to;
}
