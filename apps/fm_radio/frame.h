// SPDX-License-Identifier: Apache-2.0
// What travels through the radio's channels, and how a task takes it in and gives it out.
//
// The radio sounds the same, bit for bit, when a core is killed under it. Three rules do that:
// every frame says where in the stream it belongs; a task keeps the frame before the current one in
// its hands, so that after a restart the channel brings both again and the filter's memory is
// refilled from the older; and what a task has given out is noted in its state only after it was
// committed, so that a frame may come twice, but the second is known by its place and dropped.
#ifndef FM_FRAME_H
#define FM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "dsp/config.h"
#include "dsp/file.h"
#include "dsp/input.h"
#include "live.h"
#include "wb/wb.h"

struct fm_frame {
    uint64_t first;  // place of the first sample, in samples of this channel since the start
    uint32_t samples;
    _Alignas(64) float data[];  // complex frames: all real parts, and fm_frame_im() the others
};

// The application's state: set up by the launcher, then each file is used by one task only.
struct fm_radio {
    struct fm_config config;     // fixed
    struct fm_input input;       // fixed: lpf reads by a copy of its own
    struct fm_output output;     // sum; the launcher after the run
    struct fm_live *live;        // where the input comes from; NULL: a file
    struct fm_speaker *speaker;  // where the sound goes too; NULL: none
};

// One input port.
struct fm_intake {
    struct wb_port *port;
    uint32_t count;  // frames in hand
    uint64_t fed;    // place after the last frame that was taken in
    bool jumped;     // the current frame does not follow the one before: seek the filter
};

// Output ports that all get the same frames.
struct fm_outlet {
    uint32_t ports;
    struct wb_port *port[FM_BANDS_MAX];
    struct fm_frame *slot[FM_BANDS_MAX];  // claimed; NULL: none
};

/// Where the imaginary parts of a complex frame are.
///
/// Context: any. Never blocks.
float *fm_frame_im(struct fm_frame *frame, const struct fm_config *config);
const float *fm_frame_im_of(const struct fm_frame *frame, const struct fm_config *config);

/// Finds element `index` of the input port `in`.
///
/// Context: the task. Does not return where there is none or its slots are too small.
struct fm_intake fm_intake_open(struct wb_task *self, uint32_t index, uint32_t slot_bytes);

/// Takes the next frame in order; the one before it stays in hand, older ones are released.
///
/// Context: the task. Blocks until there is one.
/// Memory:  the frame stays as it is until the next call but one.
/// Returns: the frame, or NULL at the end of the stream.
const struct fm_frame *fm_intake_next(struct fm_intake *intake);

/// Releases what is still in hand. To be called at the end of the stream, when all was given out.
///
/// Context: the task. Never blocks.
void fm_intake_end(struct fm_intake *intake);

/// Finds all output ports `out`.
///
/// Context: the task. Does not return where there is none or their slots are too small.
struct fm_outlet fm_outlet_open(struct wb_task *self, uint32_t slot_bytes);

/// Gives the frame to be filled in, the same until it is committed.
///
/// Context: the task. Blocks until every port has a free slot.
/// Returns: the frame, or NULL when a receiver is over.
struct fm_frame *fm_outlet_claim(struct fm_outlet *outlet);

/// Sends the frame on every port, unless it is from before `*next`, and then moves `*next` on.
///
/// `first` and `samples` are the frame's place in the stream that `*next` counts. `*next` moves
/// after the frame was sent: a kernel that dies in between makes it come twice, never be missing.
///
/// Context: the task, after fm_outlet_claim(). Never blocks.
/// Memory:  `next` lies in the task's state.
/// Returns: true when it was sent; if not, the slots are still claimed, and no checkpoint may come
/// before the next frame: an image is never taken of a claimed slot.
bool fm_outlet_give(struct fm_outlet *outlet, uint64_t first, uint32_t samples, uint64_t *next);

/// The bytes that a slot needs for a frame of real or complex samples.
///
/// Context: any. Never blocks.
uint32_t fm_frame_bytes(const struct fm_config *config);
uint32_t fm_frame_complex_bytes(const struct fm_config *config);

#endif
