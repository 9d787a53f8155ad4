// SPDX-License-Identifier: Apache-2.0
// Files as data of a board's image: those that parameters named when it was built. Their table
// follows that of the plan, if `files` of board.toml is "linked".
#ifndef WB_LINKED_H
#define WB_LINKED_H

#include <stddef.h>

struct linked_file {
    const char *path;  // as the parameter has it
    const unsigned char *data;
    size_t bytes;
};

// Weak: an image may have none.
extern const struct linked_file wb_board_files[] __attribute__((weak));
extern const size_t wb_board_n_files __attribute__((weak));

#endif
