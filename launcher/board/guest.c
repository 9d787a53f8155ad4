// SPDX-License-Identifier: Apache-2.0
// A guest's program: kernels of this board take part in a system that a launcher elsewhere lays out
// (launcher/api/guest.h). It has no line to the command; what it has to say is on its page.

#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "guest_board.h"
#include "heap_hooks.h"
#include "launcher.h"
#include "supervisor.h"

// All cores see it; NULL: there is no such page.
static struct wb_guest *page __attribute__((section(".gvm")));

_Static_assert(WB_GUEST_CORES <= 32, "a board has at most 32 cores");

// ---- What is wrong ------------------------------------------------------------------------------

static void say(enum wb_guest_state state)
{
    // Release: whoever sees it sees what has been written to the page.
    wb_word_store(&page->state, state, WB_RELEASE);
}

void board_failed(uint32_t core, const char *task, const char *text)
{
    const char *colon = *task != '\0' ? ": " : "";

    (void)core;
    if (page == NULL) {
        fprintf(stderr, "%s%s%s\n", task, colon, text);
    } else {
        snprintf(page->error, sizeof page->error, "%s%s%s", task, colon, text);
        say(WB_GUEST_FAILED);
    }
    _Exit(2);
}

static _Noreturn void fail(const char *text)
{
    board_failed(WB_CORE_NONE, "", text);
}

bool hooks_see(const void *block)
{
    return board_owns(block);
}

// ---- Until the system is laid out ---------------------------------------------------------------

static void find_page(void)
{
    const char *why;
    uint32_t guest;
    const uint64_t bytes = board_find_system(&guest, &why);

    if (bytes == 0)
        fail(why);
    struct wb_guest *found = wb_guest_page(bytes, guest);
    if (found->magic != WB_GUEST_MAGIC || found->bytes != bytes ||
        wb_word_load(&found->state, WB_ACQUIRE) != WB_GUEST_DOWN)
        fail("the launcher has not cleared this guest's page, or is of another version: take the "
             "whimbrel that built this image");
    page = found;
}

static uint32_t count_cores(void)
{
    uint32_t n = 1;

    while (n < board_cores() && board_waits(n))
        n++;
    return n;
}

// Its kernels can do what needs nothing of the launcher that is of its own program: private memory,
// and the contexts of its tasks, are this board's.
static void introduce(void)
{
    page->layout = wb_layout();
    strncpy(page->plan, wb_board_plan_hash, sizeof page->plan - 1);
    page->cores = count_cores();
    page->can = 0;
    say(WB_GUEST_READY);
}

static void count(void)
{
    for (uint32_t i = 0; i < WB_GUEST_CONTENDED; i++)
        (void)wb_word_add(&page->contended, 1, WB_RELAXED);
    wb_word_store(&page->count, 2, WB_RELEASE);
}

static void answer_until_laid_out(void)
{
    uint32_t answered = 0;

    // Acquire: the system is there.
    while (wb_word_load(&page->state, WB_ACQUIRE) != WB_GUEST_GO) {
        const uint32_t ping = wb_word_load(&page->ping, WB_ACQUIRE);
        if (ping != answered) {
            page->now_ns = board_now_ns();
            wb_word_store(&page->pong, ping, WB_RELEASE);
            answered = ping;
        } else if (wb_word_load(&page->count, WB_ACQUIRE) == 1) {
            count();
        }
        board_relax();
    }
}

// ---- Running ------------------------------------------------------------------------------------

static void check_cores(void)
{
    for (uint32_t i = 0; i < WB_GUEST_CORES; i++) {
        const uint32_t core = page->core[i];
        if (core == WB_CORE_NONE)
            continue;
        if (i >= page->cores)
            fail("its machine has fewer cores than the plan names: raise `-smp` of its command");
        if (core >= page->system->n_cores || core >= WB_GUEST_CORES)
            fail("a system with guests has at most 32 cores");
    }
}

static void enter_functions(void)
{
    struct wb_program *program = &page->system->programs[page->program];

    if (page->system->n_tasks != wb_board_plan.n_tasks)
        fail("the launcher's plan has other tasks than the image");
    for (uint32_t i = 0; i < wb_board_plan.n_tasks; i++)
        program->entries[i] = wb_board_plan.tasks[i].config.entry;
}

// Below the stacks of all tasks, as any may come here but those that the memory of all has not.
static void guard_stacks(void)
{
    const uint32_t bytes = page->guard_bytes;

    for (uint32_t i = 0; bytes != 0 && i < page->system->n_tasks; i++) {
        const unsigned char *stack = page->system->tasks[i].stack;
        if (board_is_global(stack) && !board_guard(stack - bytes, bytes))
            fail("its board has too few page tables for guards below the stacks of its tasks");
    }
}

static void keep_parts(void)
{
    size_t bytes;
    void *memory = board_memory(&bytes);

    if (!wb_board_keep_parts(memory, bytes, page->system->n_tasks))
        fail("its board has too little memory for its part of the tasks");
}

// A fault ends the run; whichever core it is of, its launcher tells it.
static void look(void)
{
    if (wb_word_load(&page->system->fault.complete, WB_ACQUIRE) != 0)
        _Exit(2);
    for (uint32_t i = 0; i < page->cores; i++) {
        const uint32_t core = page->core[i];
        if (core != WB_CORE_NONE &&
            wb_word_load(&page->system->cores[core]->state, WB_ACQUIRE) != WB_CORE_STOPPED)
            return;
    }
    say(WB_GUEST_OVER);
    _Exit(0);
}

static void run(uint32_t core)
{
    const uint32_t number = page->core[core];

    board_set_clock(page->offset_ns);
    if (number == WB_CORE_NONE)
        board_sleep();
    wb_board_run(page->system->cores[number]);
}

static void run_first(void)
{
    run(0);
}

// Its kernels are interrupted for nothing but a look whether they have ended: seldom.
uint64_t board_timeslice_ns(void)
{
    return 5000000;
}

static void start_kernels(void)
{
    board_join(page);
    board_set_clock(page->offset_ns);
    say(WB_GUEST_UP);
    board_start_others(page->cores, run);
    board_reset_first();
    if (page->core[0] != WB_CORE_NONE)
        supervisor_begin(run_first, NULL);
}

int main(void)
{
    find_page();
    introduce();
    answer_until_laid_out();
    check_cores();
    enter_functions();
    keep_parts();
    guard_stacks();
    start_kernels();
    for (;; supervisor_yield())
        look();
}
