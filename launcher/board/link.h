// SPDX-License-Identifier: Apache-2.0
// The serial line to the command survives flipped and lost bytes: what is sent over it goes in
// numbered pieces with a checksum, which are sent again until the other side has them
// (docs/kernels-linux-protocol.md, "The line").
//
// One thread of control at a time. Nothing is allocated.
#ifndef WB_LINK_H
#define WB_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINK_PIECE_BYTES = 192,
    LINK_TAIL_BYTES = 19,  // a tab, the kind, two numbers, the checksum, the end of the line
    LINK_FRAME_BYTES = LINK_PIECE_BYTES + LINK_TAIL_BYTES,
    LINK_WINDOW = 64,            // pieces that are kept until they have come
    LINK_FLIGHT = 8,             // of which so many may be under way
    LINK_QUEUE_BYTES = 1 << 13,  // that have come and have not been read
};

struct link_piece {
    uint16_t bytes;
    char kind;
    char text[LINK_PIECE_BYTES];
};

struct link {
    // Sends all of these bytes; may block.
    void (*put)(const char *bytes, size_t n);
    uint32_t session;  // named by the command; 0: it has not spoken yet

    // Sending. Numbers run on, modulo 2^16.
    uint16_t first, next;  // the oldest piece that has not been acknowledged, and the next new one
    uint16_t sent;         // the next one to send
    struct link_piece window[LINK_WINDOW];
    struct link_piece open;  // is being written
    uint64_t resend_ns;      // when all is sent again
    uint64_t patience_ns;    // between two of these
    uint32_t vain;           // how many there were since the other side was heard
    bool gone;               // nobody answers: what is written is dropped

    // Receiving.
    char frame[LINK_FRAME_BYTES];
    size_t frame_bytes;
    bool overlong;
    uint16_t expected, seen;  // the next piece; the last one that came out of order
    bool asked;               // to send `expected` again, since it was expected
    bool owes;                // an acknowledgement
    bool replaced;            // another command wants the line
    char queue[LINK_QUEUE_BYTES];
    uint32_t queue_first, queue_after;  // run on

    bool old_command;  // a line came that is none of ours, and asks to start
};

/// Looks at bytes that have come.
void link_take(struct link *link, const char *bytes, size_t n, uint64_t now_ns);

/// Acknowledges what has come, and sends again what the other side lacks.
void link_tick(struct link *link, uint64_t now_ns);

/// What has come, in order and whole. Returns how many bytes.
size_t link_read(struct link *link, char *to, size_t bytes);

/// Sends bytes, when a line of them is complete. Returns how many were taken; fewer: the other side
/// has to acknowledge some first.
size_t link_write(struct link *link, const char *from, size_t bytes, uint64_t now_ns);

/// How many bytes of one line link_write() surely takes.
size_t link_room(const struct link *link);

/// True when the other side has all that was written, or nobody is there.
bool link_is_done(const struct link *link);

#endif
