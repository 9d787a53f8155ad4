// SPDX-License-Identifier: Apache-2.0
#include "wb/status.h"

const char *wb_status_text(enum wb_status status)
{
    switch (status) {
    case WB_OK:
        return "done";
    case WB_ERR_FULL:
        return "the channel is full";
    case WB_ERR_EMPTY:
        return "the channel is empty";
    case WB_ERR_TIMEOUT:
        return "the time allowed has passed";
    case WB_ERR_INVAL:
        return "an argument can never be valid";
    case WB_ERR_GONE:
        return "the other end has ended";
    case WB_ERR_BUSY:
        return "a migration of this task is already under way";
    case WB_ERR_HELD:
        return "the task holds a mutex, a C++ exception, its scheduler or interrupts";
    case WB_ERR_PINNED:
        return "the task is declared not migratable";
    case WB_ERR_NOMEM:
        return "the memory set aside for this is used up";
    case WB_ERR_OWNER:
        return "taken, but its last holder died";
    case WB_ERR_UNABLE:
        return "the kernels of this system cannot do it";
    case WB_ERR_DENIED:
        return "it belongs to another user";
    }
    return "unknown status";
}
