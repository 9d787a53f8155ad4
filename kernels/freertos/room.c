// SPDX-License-Identifier: Apache-2.0
// How large the kernel's part of a task is, as this project's FreeRTOSConfig.h makes it: the size
// of this variable becomes WB_KERNEL_TASK_BYTES, for all that is linked with the kernel
// (room.cmake).

#include "part.h"

const char wb_freertos_room[sizeof(struct freertos_task)];
