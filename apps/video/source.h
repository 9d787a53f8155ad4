// SPDX-License-Identifier: Apache-2.0
// Where a player's frames come from. A module is linked with one of two realisations: source_avi.c,
// Motion-JPEG in memory, everywhere; source_ffmpeg.c, whatever FFmpeg's libraries read, on Linux.
#ifndef VIDEO_SOURCE_H
#define VIDEO_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/wb.h"

struct source;
struct video;

/// Looks at the film before there are kernels, and sets what `video` knows of it.
///
/// Context: wb_app_setup().
/// Returns: true; false with the reason in `app->error`.
bool source_setup(struct wb_app *app, struct video *video);

/// Opens the film for one player, at the frame `next` of all plays. `*source` is NULL, or what the
/// task had in a life before this one.
///
/// Context: the task. Does not return where that cannot be.
/// Memory:  the task's heap.
void source_open(struct wb_task *self, struct source **source, uint64_t next);

/// Moves to the next frame.
///
/// Context: the task, between two checkpoints.
/// Returns: true, or false at the end of the last play.
bool source_next(struct source *source);

/// Makes the picture of the frame: picture_bytes() of it.
///
/// Context: the task, once at most for each frame.
/// Returns: true, or false where the frame is damaged.
bool source_picture(struct source *source, uint8_t *planes);

#endif
