// SPDX-License-Identifier: Apache-2.0
// Private memory of simulated kernels: each has its own at the same addresses, though they are one
// process. What is mapped there belongs to the core that has the task; the others' can be reached
// elsewhere.
#ifndef WB_SIM_PRIVATE_MAPPING_H
#define WB_SIM_PRIVATE_MAPPING_H

#include "process.h"

/// How much of globally visible memory it takes to give each of `cores` so many bytes in so many
/// parts.
size_t private_mapping_bytes(uint32_t cores, size_t bytes, uint32_t parts);

/// Sets it aside. False: there is not that much.
bool private_mapping_open(struct gvm *gvm, uint32_t cores, size_t bytes, uint32_t parts);

/// Takes the next part, page-aligned, zeroed, with GUARD_BYTES of inaccessible memory below it.
/// What is there belongs to `core`. NULL when all is taken.
void *private_mapping_take(uint32_t core, size_t bytes);

bool private_mapping_contains(const void *address);

/// Where core `core` has what it has at `address`; any other address as it is.
void *private_mapping_of(uint32_t core, const void *address);

/// Makes the stack and the heap of a replicated task, which runs nowhere, those of `core`.
void private_mapping_give(const struct wb_task *task, uint32_t core);

#endif
