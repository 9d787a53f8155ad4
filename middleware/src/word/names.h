// SPDX-License-Identifier: Apache-2.0
// Names (see wb/system.h): what has a hash is searched from its slot on, to the first that is free.
#ifndef WB_WORD_NAMES_H
#define WB_WORD_NAMES_H

#include <stddef.h>

#include "wb/system.h"

/// How many slots so many names need: at least one in two is free.
uint32_t wb_names_slots(uint32_t names);

/// The hash of a name with an index.
uint32_t wb_name_hash(const char *name, uint32_t index);

/// The first slot of that hash after `last`, or the one where it may be added, whose number is 0;
/// `last`: NULL at the beginning.
///
/// Context: any. Never blocks.
static inline struct wb_name *wb_names_next(const struct wb_names *names, uint32_t hash,
                                            const struct wb_name *last)
{
    uint32_t at = last != NULL ? (uint32_t)(last - names->slots) + 1 : hash;

    while (names->slots[at & names->mask].number != 0 &&
           names->slots[at & names->mask].hash != hash)
        at++;
    return &names->slots[at & names->mask];
}

#endif
