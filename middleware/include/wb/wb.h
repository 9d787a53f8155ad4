// SPDX-License-Identifier: Apache-2.0
// Whimbrel for applications: tasks, ports, memory, parameters. Kernels include wb/kernel.h.
#ifndef WB_WB_H
#define WB_WB_H

#include "wb/app.h"
#include "wb/barrier.h"
#include "wb/call.h"
#include "wb/condition.h"
#include "wb/firing.h"
#include "wb/memory.h"
#include "wb/port.h"
#include "wb/semaphore.h"
#include "wb/status.h"
#include "wb/task.h"
#include "wb/wait.h"

#endif
