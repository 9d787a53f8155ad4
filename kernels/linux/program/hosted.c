// SPDX-License-Identifier: Apache-2.0
// The contract for a process that hosts one task: what the task asks of its kernel is a request,
// told in the words of hosted.h, that the kernel carries out in the task's name.

#define _GNU_SOURCE
#include "hosted.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch.h"

void context_switch(void **save, void *load);
void context_start(void);
_Noreturn void kernel_task_start(struct wb_task *task);

// The summary word of the core's inbox: main() maps the core's page over this one.
_Alignas(PAGE_BYTES) uint32_t wb_kernel_need_resched_page[PAGE_BYTES / sizeof(uint32_t)];
extern struct wb_word wb_kernel_need_resched __attribute__((alias("wb_kernel_need_resched_page")));

static struct hosted *here;   // fixed once main() has it
static struct wb_task *self;  // NULL before the task begins

// ---- Turns --------------------------------------------------------------------------------------

static void give_back(enum hosted_request request, uint64_t argument)
{
    here->request = request;
    here->argument = argument;
    // Release: the kernel sees the request, and what the task wrote.
    wb_word_store(&here->turn, 0, WB_RELEASE);
    futex(&here->turn, FUTEX_WAKE, 1, WB_FOREVER);
}

static void await_turn(void)
{
    const uint32_t ours = (uint32_t)getpid() | FUTEX_WAITERS;
    uint32_t turn;

    // Acquire: the answer, and what other tasks wrote.
    while ((turn = wb_word_load(&here->turn, WB_ACQUIRE)) != ours)
        futex(&here->turn, FUTEX_WAIT, turn, WB_FOREVER);
}

static enum wb_status ask_kernel(enum hosted_request request, uint64_t argument)
{
    const int error_number = errno;

    give_back(request, argument);
    await_turn();
    errno = error_number;
    return here->answer;
}

// Whoever shares a file with the process sees what it has printed.
static _Noreturn void end_program(enum hosted_request request)
{
    fflush(NULL);
    give_back(request, 0);
    _exit(0);
}

// ---- Its life -----------------------------------------------------------------------------------

void kernel_task_start(struct wb_task *task)
{
    wb_recreation_begin(task);
    if (task->period_ns != 0)
        wb_sleep_until(task->arrival.ready_ns);
    if (here->entry(task) != 0)
        wb_task_fail(task, "its function returned an error");
    wb_kernel_exit();
}

static void *map_stack(size_t bytes)
{
    unsigned char *guard = mmap(NULL, GUARD_BYTES + bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (guard == MAP_FAILED || mprotect(guard, GUARD_BYTES, PROT_NONE) != 0)
        _exit(1);
    return guard + GUARD_BYTES;
}

// What is in use of it comes with the context: its pages are had at once, not one by one, and
// before the task is taken from its source. Linux before 5.14 cannot, and then they come one by
// one.
static void map_heap(const struct wb_heap *heap)
{
    const size_t bytes = (size_t)(heap->end - heap->base);
    const size_t in_use = (size_t)(heap->next - heap->base);

    if (bytes == 0)
        return;
    if (mmap(heap->base, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != heap->base)
        _exit(1);
    // A task that runs on at its source meanwhile may change `next`: any value will do.
    if (in_use <= bytes && madvise(heap->base, in_use, MADV_POPULATE_WRITE) != 0 && errno != EINVAL)
        _exit(1);
}

void hosted_run(struct hosted *hosted)
{
    struct wb_task *task = hosted->task;
    void *main_sp;

    here = hosted;
    await_turn();
    clock_use(here->clock);
    map_heap(&task->heap);
    unsigned char *stack = map_stack(task->stack_bytes);
    fault_set_stack(stack);
    fault_trace_to(&here->trace);
    fault_catch();
    setvbuf(stdout, NULL, _IOLBF, 0);
    (void)ask_kernel(HOSTED_READY, 0);
    self = task;
    context_switch(&main_sp, arch_context_init(stack + task->stack_bytes, task, context_start));
    __builtin_unreachable();
}

struct wb_system *kernel_system(void)
{
    return here->system;
}

// For the hooks: what is the task's heap, and what the C library's.
bool gvm_contains(const void *address)
{
    const unsigned char *a = address;
    return self != NULL && a >= self->heap.base && a < self->heap.end;
}

// ---- The contract -------------------------------------------------------------------------------

struct wb_task *wb_kernel_self(void)
{
    return self;
}

uint32_t wb_kernel_core(void)
{
    return here->core->index;
}

enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    (void)task;
    return WB_ERR_INVAL;
}

void wb_kernel_attach(struct wb_task *task)
{
    (void)ask_kernel(HOSTED_ATTACH, task->id);
}

enum wb_status wb_kernel_depart(void)
{
    if (kernel_task(self)->libc.mutexes != 0)
        return WB_ERR_HELD;
    const enum wb_status parked = wb_recreation_park(self);
    if (parked != WB_OK)
        return parked;
    end_program(HOSTED_DEPART);
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    return ask_kernel(HOSTED_BLOCK, until_ns);
}

// A note is always right: the kernel serves it before it runs anything else.
void wb_kernel_unblock(struct wb_task *task)
{
    wb_inbox_post(here->core, task->id);
}

void wb_kernel_reprioritise(struct wb_task *task)
{
    (void)ask_kernel(HOSTED_REPRIORITISE, task->id);
}

void wb_kernel_yield(uint32_t floor)
{
    (void)ask_kernel(HOSTED_YIELD, floor);
}

// As the kernel's own, by what it said when it handed the core over.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    enum { TURNS = 32 };

    if (here->poll_end_ns == 0 || here->spin_ns == 0 || here->slows ||
        wb_word_load(&wb_kernel_need_resched, WB_RELAXED) != 0)
        return false;
    if (++spin->turns % TURNS != 0)
        return true;
    arch_relax();
    const uint64_t now_ns = clock_now_ns();
    if (spin->turns == TURNS)
        spin->since_ns = now_ns;
    spin->polled_ns = now_ns - spin->since_ns;
    return spin->polled_ns < here->spin_ns && now_ns < until_ns && now_ns < here->poll_end_ns;
}

void wb_kernel_charge(enum wb_action action, uint32_t units)
{
    (void)units;
    if (action == WB_ACTION_JOB && here->slows)
        wb_kernel_yield(PRIORITIES);
    else if (action == WB_ACTION_CHECKPOINT && __fpending(stdout) != 0)
        fflush(stdout);
}

// For wb_kernel_compute(): its processor time is stretched by the kernel.
bool frequency_slows(void)
{
    return here->slows;
}

// Its context is complete at any time: its image keeps no stack, and goes on from its entry.
void wb_kernel_capture(void)
{
    if (kernel_task(self)->libc.mutexes == 0)
        wb_task_captured(self);
    wb_kernel_yield(wb_sync_priority(&self->sync) + 1);
}

void wb_kernel_exit(void)
{
    end_program(HOSTED_EXIT);
}
