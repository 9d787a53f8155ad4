// SPDX-License-Identifier: Apache-2.0
// A kernel for sequential tests: nothing runs by itself.
//
// The test says who runs where (stub_become, stub_run), serves the inboxes, and lets time pass.
// What the middleware asks of the kernel is noted here, so every order of events can be played by
// hand.
#ifndef WB_KERNEL_STUB_H
#define WB_KERNEL_STUB_H

#include <setjmp.h>

#include "build.h"

enum { STUB_CORES = 4, STUB_ACTIONS = WB_ACTION_JOB + 1 };

struct stub {
    struct wb_system *system;
    struct wb_task *self;  // what wb_kernel_self() says
    uint32_t core;         // what wb_kernel_core() says
    uint32_t cannot;       // what wb_kernel_can() leaves out
    bool shares;           // it has WB_CAN_SHARE as well
    uint64_t now_ns;
    enum wb_status depart;  // what wb_kernel_depart() says; WB_OK: the task leaves
    enum wb_status init;    // what wb_kernel_task_init() says
    enum wb_status load;    // what wb_kernel_load() says
    enum wb_status file;    // what wb_kernel_watch() says of any file

    void (*on_block)(uint64_t until_ns);  // what happens while a task is blocked; NULL: time passes
    void (*on_spin)(void);                // what happens during one turn of a polling wait
    void (*on_depart)(void);              // before the task leaves its stack
    void (*on_away)(struct wb_task *);    // while it is neither here nor there
    const void *(*private)(uint32_t core, const void *address);  // NULL: none can be read

    void (*on_load)(void);  // while a program is loaded

    uint32_t rings[STUB_CORES];  // doorbells
    uint32_t watches;            // of files that were not ready, to be woken by
    uint32_t inits, attaches, unblocks, blocks, spins, yields, captures, updates, loads, unloads;
    uint32_t floor;  // of the last yield
    uint32_t reprioritises;
    struct wb_task *attached, *unblocked, *reprioritised;
    uint32_t points;         // times that a core's operating point was set
    int32_t temperature_mc;  // what wb_kernel_temperature_mc() says
    uint32_t charged[STUB_ACTIONS];
    uint64_t computed;  // cycles, of all tasks
    jmp_buf halted;     // where wb_kernel_halt() goes
    bool may_halt;
};

extern struct stub stub;

/// An empty system of `config`'s bounds in fresh memory, and a stub that knows it.
struct wb_system *stub_open(const struct wb_system_config *config);

/// The same, with room for a few of everything.
struct wb_system *stub_system(uint32_t cores);

/// Memory for stub_open() instead of its own, such as some that processes share. NULL: its own
/// again.
void stub_use(void *memory, size_t bytes);

/// From now on the code of `task` (NULL: the kernel) on core `core` runs.
void stub_become(uint32_t core, struct wb_task *task);

/// Back to the launcher.
void stub_leave(void);

/// Serves the inbox of a core, as its kernel.
uint32_t stub_serve(uint32_t core);

/// Starts the system, and lets every core take its tasks in.
void stub_start(struct wb_system *system);

/// Switches to a task on the core that owns it.
void stub_run(struct wb_task *task);

/// The running task leaves its core.
void stub_pause(enum wb_task_state state);

/// The same as build_task() and build_channel(), for this system. The task is of priority 3.
struct wb_task *stub_task(const char *name, uint32_t core);
struct wb_channel *stub_channel(const char *name, uint32_t slots, uint32_t slot_bytes,
                                bool mailbox);

/// True if `expression` ends in wb_kernel_halt().
#define HALTS(expression)                                                                          \
    (stub.may_halt = true, setjmp(stub.halted) == 0                                                \
                               ? ((void)(expression), stub.may_halt = false, false)                \
                               : (stub.may_halt = false, true))

#endif
