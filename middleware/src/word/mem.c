// SPDX-License-Identifier: Apache-2.0
#include "mem.h"

bool wb_text_equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

size_t wb_text_bytes(const char *text)
{
    size_t n = 1;

    while (text[n - 1] != '\0')
        n++;
    return n;
}

void wb_text_copy(char *dst, const char *src, size_t bytes)
{
    size_t i = 0;

    for (; src[i] != '\0' && i + 1 < bytes; i++)
        dst[i] = src[i];
    dst[i] = '\0';
}
