// SPDX-License-Identifier: Apache-2.0
// What the agent has the network for: a line, by SIP and RTP, or one that ends where it begins.
#ifndef VOIP_LINE_H
#define VOIP_LINE_H

#include "voip.h"

struct line;

struct line_kind {
    /// Does what is due: takes in packets, keeps times.
    ///
    /// Context: the agent. Never blocks.
    /// Returns: false when there is nothing more to do.
    bool (*turn)(struct line *line);

    /// Sends a frame of the call that is under way.
    ///
    /// Context: the agent. Never blocks.
    /// Returns: false when nothing is to be sent: the other phone holds the call.
    bool (*send)(struct line *line, const struct voip_packet *packet);

    /// What is to be played in this period; of a lost one a packet of no bytes.
    ///
    /// Context: the agent, once per period. Never blocks.
    /// Returns: false when there is nothing.
    bool (*take)(struct line *line, struct voip_packet *packet);

    /// Ends the call and takes no other: line_kind.turn() says when that is done.
    ///
    /// Context: the agent. Never blocks. Doing it twice is harmless.
    void (*hang_up)(struct line *line);

    /// Context: the agent, once there is nothing more to do, or none of it is wanted.
    /// Returns: true when there was a call, or none was wanted.
    bool (*close)(struct line *line);
};

struct line {
    const struct line_kind *kind;
    int file;          // readable when there is something to do; -1: there is none
    const char *cure;  // of why there was no call; NULL: none is known
};

/// Opens a line. `line_loop` has one call, in which what is sent comes back.
///
/// Context: the agent. Ends the run where it fails.
struct line *line_loop(struct wb_task *self);
struct line *line_sip(struct wb_task *self);

/// Tells the user what happens. The detail may be the other phone's: whatever in it is no plain
/// letter is left out, for it is not for a terminal.
///
/// Context: the agent. Blocks as a terminal does.
void line_say(const char *what, const char *detail);

/// The head of a call: of which number, by which codec.
///
/// Context: any. Never blocks.
static inline uint32_t line_call(uint32_t number, int codec)
{
    return number << 8 | (uint32_t)codec;
}

#endif
