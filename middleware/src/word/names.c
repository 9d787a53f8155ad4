// SPDX-License-Identifier: Apache-2.0
#include "names.h"

uint32_t wb_names_slots(uint32_t names)
{
    uint32_t slots = 2;

    while (slots < 2 * names)
        slots *= 2;
    return slots;
}

// FNV-1a. Its multiplier is odd: the indices of one name differ in as many lower bits as they have.
uint32_t wb_name_hash(const char *name, uint32_t index)
{
    uint32_t hash = 2166136261u ^ index;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}
