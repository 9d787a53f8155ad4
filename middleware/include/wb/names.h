// SPDX-License-Identifier: Apache-2.0
// Names of tasks and channels: a hash table, so that a name is found as quickly among many as among
// few.
#ifndef WB_NAMES_H
#define WB_NAMES_H

#include <stdint.h>

#define WB_NAMES_CHANNEL ((uint32_t)1 << 31)

struct wb_name {
    uint32_t hash, number;  // number: of what it names, from 1, a channel's with WB_NAMES_CHANNEL
};

struct wb_names {  // fixed at the start
    struct wb_name *slots;
    uint32_t mask;  // how many there are, a power of two, less 1
};

#endif
