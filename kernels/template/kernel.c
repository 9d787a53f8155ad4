// SPDX-License-Identifier: Apache-2.0
// A kernel to start from: every function of wb/kernel.h, and what it has to do.
//
// It compiles, and it fails at run time in the first function that is called: copy the folder,
// write the functions from top to bottom, and run kernels/conform until it passes. "Cooperative" is
// a kernel whose tasks leave the core only by calling it (kernels/linux); "preemptive" one that
// takes the core away by interrupts (an RTOS). See README.md for the order of work.

#include "wb/kernel.h"

#include "wb/system.h"

// Where the design of a kernel begins: what it keeps of a task while the task is here, or on its
// way. It lies in globally visible memory and moves along; it may hold pointers to globally
// visible memory only, and handles only of objects that every kernel has at the same address.
struct template_task {
    void *sp;  // the saved context, while the task does not run
};

_Static_assert(sizeof(struct template_task) <= WB_KERNEL_TASK_BYTES, "raise WB_KERNEL_TASK_BYTES");

// Cooperative: the summary word of this core's own inbox, seen through this name (Linux maps it
// here). Preemptive: a private word, set by the doorbell's interrupt, and at every switch to a task
// of which wb_checkpoint_wanted() is true; cleared when that has been looked at.
struct wb_word wb_kernel_need_resched;

// Remove it as the functions below are written.
static _Noreturn void not_written(void)
{
    for (;;)
        __builtin_trap();
}

// Private memory: each kernel has its own of this. An interrupt must see NULL here, so either clear
// it on entry to interrupts or ask the processor which mode it is in.
struct wb_task *wb_kernel_self(void)
{
    not_written();
}

// A bit for each of the functions below that is written. Leave out what this hardware cannot do: a
// system that asks for it is refused at its start.
uint32_t wb_kernel_can(void)
{
    return 0;
}

// Fixed for the life of a kernel: from a register that tells the cores apart, or private memory.
uint32_t wb_kernel_core(void)
{
    not_written();
}

// One counter for all cores: a global timer, not each core's own tick. Tasks carry absolute times
// from core to core; where the counters of the cores differ, translate here.
uint64_t wb_kernel_now_ns(void)
{
    not_written();
}

// Writes the first context onto the task's empty stack, so that switching to it enters
// wb_task_main(task) with the ABI's alignment. Called again for a task that starts over: nothing of
// its former life may be looked at. Refuse a stack that cannot hold a context, and a priority that
// this kernel does not have.
enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    (void)task;
    not_written();
}

// The task is not in any list of this kernel yet, whatever its links say: they belong to another.
// Enter it into the ready list as if it had just been unblocked; set need_resched if it is more
// urgent than the running task. Preemptive: this comes from the context that serves, so a critical
// section of the scheduler is all that it takes.
void wb_kernel_attach(struct wb_task *task)
{
    (void)task;
    not_written();
}

// First refuse (WB_ERR_HELD) what cannot move: a mutex of this kernel, an inherited priority, a
// place in a list of waiters. Then take the task out of every list, save its context, switch away,
// and from the other stack call wb_task_departed(). Never call that from the task's own stack: the
// target may run the task before its context is saved. It passes silently wherever cores are
// simulated in turns, and fails on real ones. Preemptive: ask wb_departure_is_due() with the
// interrupts masked in which you leave.
enum wb_status wb_kernel_depart(void)
{
    not_written();
}

// With a permit, as POSIX threads lack and FreeRTOS's notifications have: an unblock since the last
// block is consumed and returns at once. Tell the middleware wb_task_paused(task, WB_TASK_BLOCKED,
// now) after the switch away, and wb_task_resumed() before the switch back.
enum wb_status wb_kernel_block(uint64_t until_ns)
{
    (void)until_ns;
    not_written();
}

// Blocked: make it ready and take it off the timers. Running or ready: leave the permit. A more
// urgent task sets need_resched (cooperative) or preempts (preemptive).
void wb_kernel_unblock(struct wb_task *task)
{
    (void)task;
    not_written();
}

// An operating system that knows files: poll() for the look; to wake, let whoever learns of it
// leave a note in the inbox of this core. Else this stays as it is.
enum wb_status wb_kernel_watch(int file, uint32_t events, bool wake)
{
    (void)file;
    (void)events;
    (void)wake;
    return WB_ERR_UNABLE;
}

// Preemptive: mask the interrupts of this core that may switch tasks or call the middleware. An
// RTOS has it as a critical section.
void wb_kernel_enter(void) {}

void wb_kernel_leave(void) {}

// Ready: take it out of its list, and enter it as wb_kernel_unblock() does. Running: it may be less
// urgent now than one that is ready. Keep in the task which list it is in: its effective priority
// is the new one already. An RTOS has it as "set priority"; its own inheritance stays off.
void wb_kernel_reprioritise(struct wb_task *task)
{
    (void)task;
    not_written();
}

// Cooperative: call wb_agent_serve(), then switch to the most urgent ready task of at least `floor`
// priority, first come first served, if there is one. Preemptive: interrupts have served, and what
// is more urgent runs already; `floor` equal to the task's own priority still asks for a turn of
// its equals.
void wb_kernel_yield(uint32_t floor)
{
    (void)floor;
    not_written();
}

// A kernel that never polls returns false. Otherwise count turns in `spin`, relax the processor,
// and return false as soon as there is something better to do or the time for polling is over.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    (void)spin;
    (void)until_ns;
    not_written();
}

// Interrupt the other core, or wake it if it sleeps; nothing if it is sure to look by itself.
// Against a core that is about to sleep: it says so, then looks at its inbox once more; you look at
// what it says after the note is in the inbox. Both need a full fence between their two steps.
void wb_kernel_doorbell(uint32_t core)
{
    (void)core;
    not_written();
}

// Empty wherever time passes by itself. A simulator advances its clock by what the platform's table
// says of `action`, and may switch to another core here.
void wb_kernel_charge(enum wb_action action, uint32_t units)
{
    (void)action;
    (void)units;
    not_written();
}

// Empty if every task computes really. Else takes `cycles` at the present operating point: a busy
// loop on a timer of this core, or an instruction that counts cycles.
void wb_kernel_compute(uint64_t cycles)
{
    (void)cycles;
    not_written();
}

// A loop of the processor's widest moves, or its copying engine.
void wb_kernel_copy(void *to, const void *from, size_t bytes)
{
    (void)to;
    (void)from;
    (void)bytes;
    not_written();
}

// As above, of what is there already for the most part: for images that are brought up to date.
bool wb_kernel_update(void *to, const void *from, size_t bytes)
{
    (void)to;
    (void)from;
    (void)bytes;
    not_written();
}

// Where this core sees another core's private memory, for mode replicate. Return NULL if it cannot.
const void *wb_kernel_private(uint32_t core, const void *address)
{
    (void)core;
    (void)address;
    not_written();
}

// Save the context as for a switch, leave the stack, call wb_task_captured() from another one, and
// make the task ready: a copy of the context, put back later, returns from here a second time.
void wb_kernel_capture(void)
{
    not_written();
}

// The saved stack pointer, or the end of whatever the ABI keeps below it.
void *wb_kernel_stack_low(const struct wb_task *task)
{
    (void)task;
    not_written();
}

// Program the clock and the voltage of this core, the voltage first when it rises, then write
// wb_core.point. A core without points is never asked.
void wb_kernel_set_point(uint32_t point)
{
    (void)point;
    not_written();
}

// The core's own sensor, or that of its cluster; WB_NO_TEMPERATURE without one.
int32_t wb_kernel_temperature_mc(void)
{
    not_written();
}

// WB_ERR_NOMEM where a task cannot have a program of its own: then none is recreated.
enum wb_status wb_kernel_load(struct wb_task *task)
{
    (void)task;
    return WB_ERR_NOMEM;
}

void wb_kernel_unload(struct wb_task *task)
{
    (void)task;
}

// As block, but for ever: after the switch away, wb_task_paused(task, WB_TASK_ENDED, now). The
// stack may be used again from then on.
_Noreturn void wb_kernel_exit(void)
{
    not_written();
}

// Stop every core as fast as the hardware allows, and show system->fault to whoever can read it.
_Noreturn void wb_kernel_halt(void)
{
    not_written();
}
