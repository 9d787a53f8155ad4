// SPDX-License-Identifier: Apache-2.0
// A task that is recreated lives in a process of its own, which its kernel hosts: the words between
// the two, in globally visible memory, one such structure for each core and task.
//
// The two take turns. The kernel hands the core over by writing the process's id into `turn`, and
// sleeps; the process writes what it requests of its kernel, then 0 into `turn`, and sleeps. So
// each of the other fields has one writer at a time, and the two never run at once. `turn` is a
// robust futex of the process: Linux marks it when the process ends in its turn.
#ifndef WB_HOSTED_H
#define WB_HOSTED_H

#include <sys/types.h>

#include "clock.h"
#include "private.h"

#define HOSTED_HEAPS ((unsigned char *)0x280000000000)  // each in the process of its task only

enum { HOSTED_STALE = 4 };  // the exit status of a program that does not

enum hosted_request {
    HOSTED_READY,   // its program has started and its heap is mapped; in its next turn it begins
    HOSTED_BLOCK,   // wb_kernel_block(argument)
    HOSTED_YIELD,   // wb_kernel_yield(argument)
    HOSTED_ATTACH,  // wb_kernel_attach() for task `argument`
    HOSTED_REPRIORITISE,  // wb_kernel_reprioritise() for task `argument`
    HOSTED_DEPART,        // its context is saved, the process ends: wb_kernel_depart()
    HOSTED_EXIT,          // its entry has returned, the process ends: wb_kernel_exit()
};

struct hosted {
    // Fixed by the launcher.
    uint64_t layout;  // hosted_layout(); first, where a program of any build finds it
    struct wb_system *system;
    struct wb_task *task;
    struct wb_core *core;
    wb_task_entry *entry;  // an address of the program: it is linked to a fixed one
    struct clock_rate clock;

    // The kernel of `core`, while it is its turn.
    pid_t kernel_pid;
    WB_STORED(pid_t) pid;           // the process, 0: none; the process notes it as well
    int wait_status;                // of the last one
    uint64_t spin_ns, poll_end_ns;  // see kernel_poll_end_ns()
    bool slows;                     // see frequency_slows()
    struct wb_word turn;            // 0: the kernel; its pid | FUTEX_WAITERS: the process
    _Alignas(WB_LINE_BYTES) void *robust_node;  // for Linux to find `turn` by

    // The process, while it is its turn; `answer`: its kernel.
    enum hosted_request request;
    enum wb_status answer;
    uint64_t argument;
    struct fault_trace trace;
};

// Also while the process may note it.
static inline pid_t hosted_pid(const struct hosted *h)
{
    return wb_word_load(&h->pid, WB_SEQ_CST);
}

// A hash of the headers that say what lies where (program/layout.sh).
extern const uint64_t hosted_headers;

// What a program must agree on with its kernel; one of another build, or compiler, may not.
static inline uint64_t hosted_layout(void)
{
    return (hosted_headers ^ sizeof(struct wb_system) ^ sizeof(struct wb_task) << 16 ^
            sizeof(struct wb_channel) << 32 ^ sizeof(struct wb_port) << 48) +
           sizeof(struct hosted);
}

// ---- program.c: the launcher's side -------------------------------------------------------------

/// The words of a task on a core; NULL if it is not hosted.
struct hosted *hosted_of(const struct wb_task *task, uint32_t core);

/// The program, and a descriptor of globally visible memory for it.
const char *hosted_program(void);
int hosted_gvm(size_t *bytes);

/// Waits until no process runs that a killed kernel has hosted: Linux kills them with it.
void hosted_await_end(const struct wb_system *system, uint32_t core);

/// Before the kernel of that core is started again: those have ended, and are reaped.
void hosted_forget(const struct wb_system *system, uint32_t core);

/// Once every kernel has ended: forgets the program, and reaps what a killed kernel has left.
void hosted_close(const struct wb_system *system);

// ---- hosting.c: the kernel's side ---------------------------------------------------------------

/// The entry of every task that is hosted: lets its process run, and does what that requests.
int host_run(struct wb_task *self);

// ---- program/hosted.c: the process's side -------------------------------------------------------

/// Becomes the task, with its heap mapped; does not return.
_Noreturn void hosted_run(struct hosted *hosted);

#endif
