// SPDX-License-Identifier: Apache-2.0
// What is found by its name: a tree that is ordered by a hash of the names. A hash is as good as
// random, so the tree needs no balancing: among n names one is found after some 2 ln n looks.
#ifndef WB_NAMED_H
#define WB_NAMED_H

#include <stdint.h>

struct wb_named {  // fixed at the start
    struct wb_named *less, *more;
    const char *name;
    uint32_t index, hash;
};

#endif
