// SPDX-License-Identifier: Apache-2.0
#include "names.h"

uint32_t wb_names_slots(uint32_t names)
{
    uint32_t slots = 2;

    while (slots < 2 * names)
        slots *= 2;
    return slots;
}

// FNV-1a, and the finalizer of MurmurHash3 for its lower bits.
uint32_t wb_name_hash(const char *name, uint32_t index)
{
    uint32_t hash = 2166136261u ^ index;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}
