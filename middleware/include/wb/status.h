// SPDX-License-Identifier: Apache-2.0
// One vocabulary of outcomes for every public function.
#ifndef WB_STATUS_H
#define WB_STATUS_H

#include <stdint.h>

// Applications may be C or C++.
#ifdef __cplusplus
#define WB_BEGIN_C extern "C" {
#define WB_END_C }
#else
// What applications call is seen by their modules, and nothing else has to be.
#define WB_BEGIN_C _Pragma("GCC visibility push(default)")
#define WB_END_C _Pragma("GCC visibility pop")
#endif

#define WB_MUST_USE __attribute__((warn_unused_result))
#define WB_NORETURN __attribute__((noreturn))

// The version that a file was compiled for stands in a note of its module (ELF), which another one
// does not load.
#define WB_VERSION "0.2.0"
#define WB_NOTE_NAME "Whimbrel"

enum { WB_NOTE_VERSION = 1 };

#if defined __linux__ && defined __PIC__
struct wb_note {
    uint32_t name_bytes, version_bytes, type;
    char name[(sizeof WB_NOTE_NAME + 3) / 4 * 4], version[(sizeof WB_VERSION + 3) / 4 * 4];
};

__attribute__((section(".note.whimbrel"), used, aligned(4))) static const struct wb_note wb_note = {
    sizeof WB_NOTE_NAME, sizeof WB_VERSION, WB_NOTE_VERSION, WB_NOTE_NAME, WB_VERSION
};
#endif

WB_BEGIN_C

// Negative, so that a function may return a count instead of WB_OK.
// Numbers are part of the ABI: add at the end, never reuse.
enum wb_status {
    WB_OK = 0,
    WB_ERR_FULL = -1,     // no room now; try again after the peer reads
    WB_ERR_EMPTY = -2,    // nothing to take now
    WB_ERR_TIMEOUT = -3,  // the deadline passed first
    WB_ERR_INVAL = -4,    // an argument can never be valid
    WB_ERR_GONE = -5,     // the other end has ended: its task has returned or its kernel has died
    WB_ERR_BUSY = -6,     // a migration of this task is already under way
    WB_ERR_HELD = -7,     // the task holds something that cannot move with it
    WB_ERR_PINNED = -8,   // the task is declared not migratable
    WB_ERR_NOMEM = -9,    // the memory set aside for this is used up
    WB_ERR_OWNER = -10,   // taken, but its last holder died: what it guards may be half changed
    WB_ERR_UNABLE = -11,  // the kernels of this system cannot do it: see wb_kernel_can()
    WB_ERR_DENIED = -12,  // it is another user's
};

/// Names an outcome in words a person can act on.
///
/// Context: any. Never blocks.
/// Returns: static text, never NULL.
const char *wb_status_text(enum wb_status status);

WB_END_C

#endif
