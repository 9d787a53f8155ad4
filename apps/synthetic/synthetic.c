// SPDX-License-Identifier: Apache-2.0
// Tasks that exist only as TOML: the "controllable synthetic benchmark" of acquaviva2008
// (section 6.2).
//
// A message holds its number in the channel, little-endian, as far as that fits: so a receiver
// notices one that is missing, repeated or out of order, and the bytes are the same on every
// machine.
#include <string.h>

#include "wb/wb.h"

// htole64() is not in every C library.
static uint64_t little_endian(uint64_t number)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? number : __builtin_bswap64(number);
}

static void write_number(void *slot, uint32_t bytes, uint64_t number)
{
    const uint64_t wire = little_endian(number);

    if (bytes >= sizeof wire)
        memcpy(slot, &wire, sizeof wire);
    else
        memcpy(slot, &wire, bytes);
}

static bool has_number(const void *slot, uint32_t bytes, uint64_t number)
{
    const uint64_t wire = little_endian(number);

    if (bytes >= sizeof wire)
        return memcmp(slot, &wire, sizeof wire) == 0;
    return memcmp(slot, &wire, bytes) == 0;
}

static const struct wb_messages messages = { .write = write_number, .read = has_number };

int synthetic(struct wb_task *self)
{
    return wb_fire(self, &messages);
}

int scripted(struct wb_task *self)
{
    return wb_script_run(self, &messages);
}
