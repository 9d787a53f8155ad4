// SPDX-License-Identifier: Apache-2.0
#ifndef MIXED_KERNEL_H
#define MIXED_KERNEL_H

#include "guest.h"
#include "wb/system.h"

/// What rings this kernel, and what rings a core of the guest.
void kernel_doorbells(int own, uint32_t core, int doorbell);

/// Becomes the kernel of a core until its only task is over.
void kernel_run(struct wb_core *core, struct wb_task *task);

#endif
