// SPDX-License-Identifier: Apache-2.0
// What a board gives to its kernels and to a launcher, and what these kernels give to the latter.
#ifndef WB_BOARD_H
#define WB_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"
#include "wb/system.h"

struct wb_core;
struct wb_task;

// ---- The board provides -------------------------------------------------------------------------

/// Nanoseconds on a clock that all cores share.
uint64_t board_now_ns(void);

/// Cycles of a core in a second.
uint64_t board_hz(void);

/// One turn of a loop that waits or computes: what the processor has to say so.
void board_relax(void);

/// Raises the doorbell's interrupt on a core, this one included.
///
/// Context: any. Never blocks.
void board_ring(uint32_t core);

/// Stops every core.
_Noreturn void board_halt(void);

/// Says why the program cannot go on, and ends it with status 2: failed.c prints it, a launcher has
/// its own way. `core` and `task`: what it has come from; WB_CORE_NONE and "" if that is unknown.
///
/// Context: any, an interrupt included.
_Noreturn void board_failed(uint32_t core, const char *task, const char *text);

/// Where core `core`'s private memory can be read; NULL where `address` is not private.
const void *board_private(uint32_t core, const void *address);

/// True of memory that all cores have at this address, and may write.
bool board_is_global(const void *address);

// ---- The board provides to a launcher, which runs on the first core -----------------------------

/// How many cores it has, 32 at most.
uint32_t board_cores(void);

/// Memory at the same address for all cores, which nothing else uses; zeroed.
void *board_memory(size_t *bytes);

/// Says that such memory has been written up to `end`; the rest of it is still zeros.
void board_memory_used(const void *end);

/// True of such memory, and of private memory that board_take_private() gave.
bool board_owns(const void *address);

/// A stack in such memory, with an inaccessible page below it; NULL when there is none.
void *board_stack(size_t bytes);

/// Forgets all stacks.
void board_free_stacks(void);

/// The next part of private memory, at the same address on each core; zeroed. NULL when there is
/// none.
void *board_take_private(size_t bytes);
void board_free_private(void);

/// Moves what the first core has there in its private memory to that of `core`, which is stopped.
void board_give_private(uint32_t core, void *at, size_t bytes);

/// Waits until a core waits to be started: after a reset, or after board_kill().
///
/// Context: the first core. Blocks, at most for some seconds of its clock: for longer than a core
/// takes to boot, also where an emulator has a busy host.
/// Returns: false if the core does not come.
bool board_waits(uint32_t core);

/// Makes the cores from the second to the last of `count` call `entry`, each with its index.
///
/// Context: the first core, when board_waits() is true of these.
void board_start_others(uint32_t count, void (*entry)(uint32_t core));

/// Makes a core other than the first stop in the midst of whatever it does. At the return it cannot
/// read or write memory that others see any more, whether it takes interrupts or not.
///
/// Context: the first core. Never blocks.
void board_kill(uint32_t core);

/// Makes private memory of the first core's kernel, and what it has of the interrupt controller,
/// what they are after a reset.
void board_reset_first(void);

/// Changes as long as a core takes the interrupts of its kernel's timer.
uint32_t board_heartbeat(uint32_t core);

/// How long the first core's kernel runs at least, each time that a launcher lets it.
uint64_t board_timeslice_ns(void);

/// Leaves what the C library keeps of a program of the first core for that of another, or for a new
/// one (NULL). Returns what it was.
void *board_library(void *next);

/// Calls board_supervisor() once, after so long, in the midst of whatever the first core's kernel
/// does.
void board_wake_supervisor(uint32_t us);

/// Waits so long, while the first core's kernel does not run.
void board_pause(uint32_t us);

/// Leaves a program of the first core for another. board_context() makes a new one that calls
/// `entry`, below `stack_end`.
void board_switch(void **save, void *load);
void *board_context(void *stack_end, void (*entry)(void));

/// Keeps interrupts from this core, all of them, until board_irq_restore() of what it returns.
uint32_t board_irq_save(void);
void board_irq_restore(uint32_t state);

/// The line to the command: takes bytes that have come, or sends some. How many; 0: none now.
///
/// Context: outside of the kernels. Never blocks.
size_t board_line_read(void *to, size_t bytes);
size_t board_line_write(const void *from, size_t bytes);

/// How many bytes board_line_write() has room for.
size_t board_line_room(void);

/// Called by the board when it is time, on the first core; nothing by default.
void board_supervisor(void);

/// Whether the board calls the next three functions; false by default.
///
/// Context: any. Never blocks.
bool board_tells_idle(void);

/// Called by such a board when the first core's kernel has nothing to do. The supervisor may run
/// meanwhile.
///
/// Context: the kernel of the first core, without interrupts. Blocks while the supervisor runs.
/// Returns: true if the supervisor ran, so that there may be something to do now.
bool board_kernel_idles(void);

/// Called by such a board when that kernel is about to look for something to do.
///
/// Context: the kernel of the first core, without interrupts. Never blocks.
void board_kernel_wakes(void);

/// Called by such a board at the end of each interrupt of the first core that may be for its
/// kernel: an idle kernel runs now, in the place of the supervisor.
///
/// Context: an interrupt of the first core. Blocks while that kernel runs.
void board_kernel_is_called(void);

// ---- The kernel provides to a launcher ---------------------------------------------------------

/// Becomes the kernel of a core.
///
/// Context: once on each core after a reset.
_Noreturn void wb_board_run(struct wb_core *core);

/// Keeps the kernels' own parts of so many tasks in memory that all cores see, zeroed: for a guest,
/// whose tasks have no room for them.
///
/// Context: the first core, before any kernel starts.
/// Returns: false: it is too little memory.
bool wb_board_keep_parts(void *memory, size_t bytes, uint32_t tasks);

/// The kernel of this core has been stopped, and does not go on: what it has of the hardware is
/// given back.
///
/// Context: this core, outside of kernels. Never blocks.
void wb_board_killed(void);

/// What runs from here on is, or no longer is, the supervisor: outside of every kernel.
void wb_board_in_supervisor(bool in_supervisor);

/// True of a blocked task that waits without a time limit.
bool wb_board_waits_for_ever(struct wb_task *task);

/// True if the image has something that tasks are recreated from; and as wb_host_recreates().
bool wb_board_has_program(void);
enum wb_status wb_board_recreates(struct wb_task *task, const char *entry, char *why,
                                  size_t why_bytes);

#endif
