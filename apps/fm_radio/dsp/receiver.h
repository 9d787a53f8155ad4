// SPDX-License-Identifier: Apache-2.0
// The whole radio in one plain loop, without tasks or channels.
//
// It is the yardstick for the radio made of tasks: the same filters, on the same frames.
#ifndef FM_RECEIVER_H
#define FM_RECEIVER_H

#include <stdbool.h>

#include "config.h"
#include "file.h"
#include "input.h"

/// Plays `input` to its end through the radio into `output`, and finishes it.
///
/// Context: any; uses the C library's heap. May block on the files.
/// Returns: false, with the reason in `why`, where a file failed or memory ran out.
bool fm_receiver_run(const struct fm_config *config, struct fm_input *input,
                     struct fm_output *output, char why[FM_WHY_BYTES]);

#endif
