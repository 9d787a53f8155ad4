// SPDX-License-Identifier: Apache-2.0
// The launcher's own kernel, of core 0: one task, which the launcher calls. A doorbell is an
// eventfd.

#define _GNU_SOURCE
#include "kernel.h"

#include <poll.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "wb/kernel.h"

enum { LOST_MS = 60000 };

static int own_doorbell, doorbells[WB_GUEST_CORES];
static struct wb_core *own_core;
static struct wb_task *running;
static jmp_buf over;

struct wb_word wb_kernel_need_resched;

void kernel_doorbells(int own, uint32_t core, int doorbell)
{
    own_doorbell = own;
    doorbells[core] = doorbell;
}

void kernel_run(struct wb_core *core, struct wb_task *task)
{
    own_core = core;
    wb_word_store(&core->state, WB_CORE_UP, WB_RELEASE);
    (void)wb_agent_serve(core);
    running = task;
    wb_task_resumed(task, wb_kernel_now_ns());
    if (setjmp(over) == 0)
        wb_task_main(task);
    running = NULL;
    wb_task_paused(task, WB_TASK_ENDED, wb_kernel_now_ns());
    wb_word_store(&core->state, WB_CORE_STOPPED, WB_RELEASE);
    own_core = NULL;
}

struct wb_task *wb_kernel_self(void)
{
    return running;
}

uint32_t wb_kernel_core(void)
{
    return own_core != NULL ? own_core->index : WB_CORE_NONE;
}

uint64_t wb_kernel_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    (void)task;
    return WB_OK;
}

void wb_kernel_attach(struct wb_task *task)
{
    (void)task;
}

void wb_kernel_unblock(struct wb_task *task)
{
    (void)task;
}

enum wb_status wb_kernel_depart(void)
{
    return WB_ERR_GONE;
}

static _Noreturn void lose(void)
{
    puts("failed no doorbell");
    exit(1);
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    struct wb_task *task = running;
    struct wb_swapped *sleeping = (struct wb_swapped *)(void *)own_core->kernel;
    uint64_t rings;

    wb_task_paused(task, WB_TASK_BLOCKED, wb_kernel_now_ns());
    running = NULL;
    for (;;) {
        // seq_cst against wb_guest_must_ring(): it sees the flag, or we see the note.
        (void)wb_word_swap(sleeping, 1, WB_SEQ_CST);
        wb_word_fence(WB_SEQ_CST);
        if (wb_agent_serve(own_core) != 0 || wb_kernel_now_ns() >= until_ns)
            break;
        // QEMU has made the file non-blocking.
        if (poll(&(struct pollfd){ .fd = own_doorbell, .events = POLLIN }, 1, LOST_MS) == 0)
            lose();
        (void)!read(own_doorbell, &rings, sizeof rings);
    }
    (void)wb_word_swap(sleeping, 0, WB_RELAXED);
    running = task;
    wb_task_resumed(task, wb_kernel_now_ns());
    return wb_kernel_now_ns() >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

void wb_kernel_yield(uint32_t floor)
{
    (void)floor;
}

bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    (void)spin;
    (void)until_ns;
    return false;
}

void wb_kernel_doorbell(uint32_t core)
{
    const uint64_t one = 1;

    if (core != 0 && write(doorbells[core], &one, sizeof one) < 0)
        perror("doorbell");
}

void wb_kernel_capture(void) {}

void wb_kernel_exit(void)
{
    longjmp(over, 1);
}

void wb_kernel_halt(void)
{
    exit(3);
}
