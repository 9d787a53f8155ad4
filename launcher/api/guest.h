// SPDX-License-Identifier: Apache-2.0
// What a launcher and a guest agree on. A guest is a program for cores of another kind, in an
// emulator or on a board of its own, that takes part in a system which the launcher lays out: it
// sees the same globally visible memory at the same address.
//
// A page of that memory, for each guest one from its end on, says what each has to know of the
// other. Who boots later finds what the other has written:
//
//   launcher                          guest
//   clears the page, starts it
//                                     looks whether its layout is that of the page: READY
//   compares the two, and the plans
//   measures the guest's clock  <...> answers
//   counts on `contended`       <...> counts as well: atomics are common to both
//   lays the system out: GO
//                                     finds its tasks' functions, starts its kernels: UP
//   starts its own kernels
//                                     its kernels have ended: OVER
#ifndef WB_GUEST_H
#define WB_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/status.h"
#include "wb/system.h"
#include "wb/word.h"

// Where globally visible memory begins, for all programs of a system.
#define WB_GUEST_MEMORY UINT64_C(0x200000000000)

#define WB_GUEST_MAGIC UINT64_C(0x31307473657567)  // "guest01": of this header

enum {
    WB_GUEST_PAGE_BYTES = 4096,
    WB_GUEST_CORES = 32,          // of a system with guests
    WB_GUEST_CONTENDED = 100000,  // how often each adds 1 to `contended`
    WB_GUEST_PLAN_BYTES = 72,
};

enum wb_guest_state {
    WB_GUEST_DOWN,    // the launcher has cleared the page
    WB_GUEST_READY,   // the guest sees this memory, and has written what is its to write
    WB_GUEST_GO,      // the launcher: the system is laid out
    WB_GUEST_UP,      // the guest: its tasks' functions are known, its kernels start
    WB_GUEST_OVER,    // its kernels have ended in order
    WB_GUEST_FAILED,  // it cannot take part: `error` says why
};

struct wb_guest {
    // The launcher, before the guest starts.
    uint64_t magic;
    uint64_t bytes;  // of globally visible memory, with these pages
    // What is written to the doorbell register of ivshmem to ring a core of the system; 0 for the
    // guest's own. Only one that sleeps has to be rung (wb_guest_must_ring()).
    uint32_t doorbell[WB_GUEST_CORES];

    struct wb_word state;

    // The guest, before READY.
    uint64_t layout;                 // wb_layout() of its program
    char plan[WB_GUEST_PLAN_BYTES];  // the hash of its plan
    uint32_t cores;                  // of its board
    uint32_t can;                    // enum wb_capability
    char error[WB_ERROR_BYTES];      // FAILED

    // Between READY and GO: for each change of `ping` the guest writes what its clock says, then
    // the same number to `pong`. Once `count` is 1 both add to `contended`, and the guest says 2.
    struct wb_word ping, pong, count;
    uint64_t now_ns;
    struct wb_swapped contended;

    // The launcher, before GO.
    struct wb_system *system;
    uint32_t program;               // of the system's
    uint32_t guard_bytes;           // below each task's stack, in whole pages; 0: there are none
    int64_t offset_ns;              // what the guest's clock is behind that of the system
    uint32_t core[WB_GUEST_CORES];  // the system's core that each of its cores is; or WB_CORE_NONE
};

_Static_assert(sizeof(struct wb_guest) <= WB_GUEST_PAGE_BYTES, "one page");

/// The page of a guest, the first one from 0.
static inline struct wb_guest *wb_guest_page(uint64_t memory_bytes, uint32_t guest)
{
    return (struct wb_guest *)(uintptr_t)(WB_GUEST_MEMORY + memory_bytes -
                                          (uint64_t)(guest + 1) * WB_GUEST_PAGE_BYTES);
}

/// Whether a core of another program, to which a note has been posted, is to be rung, by whoever
/// asks: a kernel of the launcher's says in the first word of its own part that it sleeps.
///
/// Context: a kernel of the guest's. Never blocks.
static inline bool wb_guest_must_ring(struct wb_core *core)
{
    struct wb_swapped *sleeping = (struct wb_swapped *)(void *)core->kernel;

    if (core->program != 0)
        return true;
    // seq_cst against who goes to sleep: it sees the note, or the flag is seen here.
    wb_word_fence(WB_SEQ_CST);
    return wb_word_load(sleeping, WB_SEQ_CST) != 0 && wb_word_swap(sleeping, 0, WB_RELAXED) != 0;
}

#endif
