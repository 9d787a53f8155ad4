// SPDX-License-Identifier: Apache-2.0
// Adding tasks, channels and ports in one line each, for tests. What cannot be added fails the
// test.
#ifndef WB_TEST_BUILD_H
#define WB_TEST_BUILD_H

#include "wb/launcher.h"
#include "wb/system.h"
#include "wb/wb.h"

/// A migratable task with a heap of 4096 bytes and a stack that no kernel of these tests uses.
struct wb_task *build_task(struct wb_system *system, const char *name, uint32_t core,
                           uint32_t priority, wb_task_entry *entry);

struct wb_channel *build_channel(struct wb_system *system, const char *name, uint32_t slots,
                                 uint32_t slot_bytes, bool mailbox);

/// Binds a channel to the next index of the task's port "in" or "out".
struct wb_port *build_port(struct wb_task *task, struct wb_channel *channel,
                           enum wb_direction direction);

#endif
