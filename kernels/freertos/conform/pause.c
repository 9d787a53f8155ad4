// SPDX-License-Identifier: Apache-2.0
// The supervisor's wait for its kernels.

#include "board.h"
#include "suite.h"

// As in a kernel that fails while it starts, and tells the command: no interrupt ends the wait.
TEST(a_pause_ends_where_interrupts_are_off)
{
    const uint64_t from_ns = board_now_ns();
    const uint32_t irq_state = board_irq_save();

    board_pause(1000);
    board_irq_restore(irq_state);
    CHECK(board_now_ns() - from_ns >= 1000000);
}
