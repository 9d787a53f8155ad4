// SPDX-License-Identifier: Apache-2.0
// What kernels that run tasks as contexts of a process have in common: their part of a task, ready
// queues, globally visible memory, and what the C and C++ libraries keep of a thread.
#ifndef WB_PROCESS_H
#define WB_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "wb/system.h"

// Far from what Linux, the loader and AddressSanitizer use on both architectures (48-bit
// addresses).
#define GVM_BASE ((unsigned char *)0x200000000000)

enum { GUARD_BYTES = 64 * 1024, PAGE_BYTES = 4096 };

static inline size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

// What the libraries of C and C++ keep of a task.
struct libc_state {
    int32_t error_number;  // the task's errno
    uint32_t mutexes;      // held pthread mutexes of the module
    void *caught;          // C++: exceptions being handled, and how many are in flight
    uint32_t uncaught;
};

// How often somebody has looked at the simulator's clock since time passed.
struct polls {
    uint64_t last_ps;
    uint32_t count;
};

// What only the simulator keeps of a task.
struct sim_task {
    uint64_t left_ps;   // to let pass before it goes on, as it was interrupted;
    uint64_t left_hz;   // at this frequency, 0: at any
    uint64_t slice_ps;  // of its turn it has had so much before it was interrupted
    struct polls polls;
    bool in_block;  // has not gone on yet since it was blocked
};

// A kernel's own part of a task (wb_task.kernel), in globally visible memory because it moves
// along.
struct kernel_task {
    void *sp;              // saved context while the task does not run
    struct wb_task *next;  // in a ready queue,
    struct wb_task *last;  // and the one before it; NULL: it is the first
    uint32_t queue;        // 1 + number of that queue, 0: none
    uint32_t level;        // its priority among the timers
    uint64_t until_ns;     // of a timed block
    uint32_t timer;        // 1 + position in the timer heap, 0: none
    bool blocked, woken;   // woken: an unblock came while it was not blocked
    bool watches;          // it waits for a file, too: none does in the simulator
    struct libc_state libc;
    struct sim_task sim;
    void *fake_stack;  // AddressSanitizer's, while the task does not run
};

_Static_assert(sizeof(struct kernel_task) <= WB_KERNEL_TASK_BYTES, "raise WB_KERNEL_TASK_BYTES");

static inline struct kernel_task *kernel_task(struct wb_task *task)
{
    return (struct kernel_task *)(void *)task->kernel;
}

/// The system this process belongs to, also in the launcher; NULL before it is laid out.
void kernel_set_system(struct wb_system *system);
struct wb_system *kernel_system(void);

// ---- ready.c: the ready queues of this kernel ---------------------------------------------------

enum { PRIORITIES = 32 };

struct ready {
    uint32_t levels;  // bit p: queue p is not empty
    struct wb_task *first[PRIORITIES], *last[PRIORITIES];
};

void ready_push(struct ready *ready, struct wb_task *task);

/// The same, before all that are as urgent.
void ready_push_first(struct ready *ready, struct wb_task *task);

/// Takes a task out of the queue that it is in. False: it is in none.
bool ready_take(struct ready *ready, struct wb_task *task);

/// The most urgent task of at least `floor` priority, first come first served; NULL if there is
/// none.
struct wb_task *ready_pop(struct ready *ready, uint32_t floor);

/// The most urgent task that is asked to migrate; NULL if there is none.
struct wb_task *ready_pop_leaving(struct ready *ready);

/// Moves a task, if it is in a queue, to the end of that of its effective priority.
void ready_move(struct ready *ready, struct wb_task *task);

// ---- stack.c ------------------------------------------------------------------------------------

/// Begins with an empty stack, and without a context.
enum wb_status stack_init(struct wb_task *task);

/// Lays out a context on the task's empty stack that begins in kernel_task_start().
void *stack_first_context(struct wb_task *task);

// ---- gvm.c --------------------------------------------------------------------------------------

struct gvm {
    int fd;
    unsigned char *base;
    size_t bytes, used;
    size_t kept;  // at its end
};

/// Maps `bytes` of globally visible memory, of which gvm_take() leaves the last `kept`. False, with
/// errno, when it cannot be had.
bool gvm_open(struct gvm *gvm, size_t bytes, size_t kept);

/// Takes the next part, page-aligned, zeroed. NULL when it is used up.
void *gvm_take(struct gvm *gvm, size_t bytes);

/// A stack with GUARD_BYTES of inaccessible memory below it; its lowest address. NULL: memory is
/// used up, or with errno when Linux allows no more mappings.
void *gvm_stack(struct gvm *gvm, size_t bytes);
void gvm_close(struct gvm *gvm);

/// Makes `bytes` of private memory at `at` (both page-aligned) common to all kernels, content kept.
bool gvm_replace(struct gvm *gvm, void *at, size_t bytes);

/// Maps the page at `shared`, in globally visible memory, also at `at`.
bool gvm_alias(const struct gvm *gvm, void *at, const void *shared);

/// True of the private memory of replicated tasks, where the kernels have any. The kernels'.
bool private_mapping_contains(const void *address);

/// True of globally visible memory, and of the private memory of replicated tasks.
bool gvm_contains(const void *address);

/// A descriptor of globally visible memory that the kernels inherit, -1 without one; its size.
int gvm_share(size_t *bytes);

// ---- libc_state.c: what the C and C++ libraries keep of a thread -------------------------------

/// Looks up what this process has. Once, in a kernel.
void libc_state_init(void);

/// Takes it from, or gives it to, the libraries of this process. errno is safe in between only.
void libc_state_save(struct libc_state *state);
void libc_state_restore(const struct libc_state *state);

/// True while the running task holds what cannot move with it.
bool libc_state_is_held(const struct libc_state *state);

/// Where a task's first context begins: called by context_start() on the task's stack.
_Noreturn void kernel_task_start(struct wb_task *task);

// ---- sanitizer.c --------------------------------------------------------------------------------

/// Makes AddressSanitizer's shadow of [base, base + bytes) common to all kernels. Nothing without
/// it.
bool sanitizer_share(void *base, size_t bytes);

/// Whether this process has it.
bool sanitizer_is_there(void);

/// To be called around a context switch, so that AddressSanitizer knows the stack in use.
void sanitizer_leave(void **fake_stack, const void *stack, size_t stack_bytes);
void sanitizer_enter(void *fake_stack);

/// The same, and from which stack.
void sanitizer_enter_from(void *fake_stack, const void **stack, size_t *stack_bytes);

/// Forgets the red zones in memory whose former content is gone.
void sanitizer_clean(void *at, size_t bytes);

/// memcpy(), also of memory with red zones in it.
void sanitizer_copy(void *to, const void *from, size_t bytes);

/// memcmp() != 0, also of memory with red zones in it.
bool sanitizer_differs(const void *a, const void *b, size_t bytes);

// ---- fault.c ------------------------------------------------------------------------------------

// Addresses of code: where a fault happened, and the calls that led there, the innermost first.
struct fault_trace {
    uint32_t n;
    uintptr_t pc[WB_FRAMES];
};

/// Loads what a trace needs, once, before the kernels are forked: that takes longer than their
/// start. A static program has all of it.
void fault_prepare(void);

/// Turns SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGTRAP of this kernel, and exit(), into a
/// fault that names the task.
void fault_catch(void);

/// Where this process leaves the trace of its fault, before it notes the fault; and what is there.
void fault_trace_to(struct fault_trace *trace);
const struct fault_trace *fault_traced(void);

/// Notes that the running task has called what ends its process, and halts. Nothing in no task.
void fault_exit(const char *call, int status);

/// Where the stack of the running task ends, if it is not the one in its descriptor.
void fault_set_stack(const void *lowest);

#endif
