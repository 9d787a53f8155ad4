// SPDX-License-Identifier: Apache-2.0
// Video players (holmbacka2013, section VI): what the players and their screens share.
//
//   film in memory ─> video, several: decodes, keeps the frame rate ─> screen, one for each
//
// A player decodes into the very slot of the channel in which the screen finds the frame.
#ifndef VIDEO_H
#define VIDEO_H

#include <stdbool.h>
#include <stdint.h>

#include "avi.h"
#include "output.h"
#include "planes.h"
#include "wb/wb.h"

enum { VIDEO_WHY_BYTES = 256 };

// One frame, in a slot between a player and its screen.
struct video_frame {
    uint64_t number;  // in all plays of the film, also of those that were dropped
    uint32_t checksum;
    bool has_picture;  // not where it was damaged, or where computing is only modelled
    _Alignas(64) uint8_t planes[];
};

// What became of a player's frames.
struct video_tally {
    uint64_t shown, dropped, damaged;
};

struct video_result {
    _Alignas(64) struct video_tally tally;  // the player
    bool ended;                             // it has played all of the film
    _Alignas(64) uint64_t differ;           // its screen
};

// The application's state: set up by the launcher; then it is read only, but for the results and
// the outputs.
struct video {
    uint32_t width, height;  // of a picture
    uint32_t rate, scale;    // frames per second, for what is written: rate / scale
    uint64_t frames;         // of one play; 0: not known
    uint64_t resized;        // of them, those of another size
    uint64_t plays;
    const uint32_t *expected;  // the checksum of each frame of a play; NULL: not known
    uint32_t players;
    struct video_result *result;  // one for each player and its screen
    struct output *output;        // one for each screen
    struct avi film;              // of source_avi.c
    int fd;                       // of source_ffmpeg.c
};

/// The application's state.
///
/// Context: any. Never blocks.
struct video *video_of(const struct wb_task *self);

/// Finds a port of the task whose slots hold a frame of the film.
///
/// Context: the task. Does not return where there is none, or its slots are too small.
struct wb_port *video_port(struct wb_task *self, const char *name);

#endif
