// SPDX-License-Identifier: Apache-2.0
// What a preemptive kernel may do between any two instructions: the call under test runs in single
// steps, again and again, and the interrupt comes one instruction later each time.
// with: check.c build.c kernel_stub.c
#define _GNU_SOURCE

#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

#ifdef __x86_64__
#include <signal.h>
#include <ucontext.h>
#include <x86gprintrin.h>

enum { STEP = 0x100 };  // the processor's flag that asks for a trap after each

// A call is tried at so many of its instructions at most. A sanitizer's are many.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST = 300 };
#else
enum { MOST = INT32_MAX };
#endif

static struct {
    uint32_t count, at;  // instructions so far; the interrupt comes after as many
    bool masked, pending, came;
    void (*interrupt)(void);
} steps;

static struct wb_task *task, *peer, *other, *urgent;
static struct wb_mutex mutex, second;

static void come(void)
{
    steps.pending = false;
    steps.came = true;
    steps.interrupt();
}

// After the interrupt nobody counts.
static void stepped(int signal, siginfo_t *info, void *context)
{
    ucontext_t *const interrupted = context;

    (void)signal;
    (void)info;
    if (++steps.count == steps.at) {
        steps.pending = steps.masked;
        if (!steps.masked)
            come();
    }
    if (steps.came)
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~STEP;
}

void wb_kernel_enter(void)
{
    CHECK(!steps.masked);
    steps.masked = true;
}

void wb_kernel_leave(void)
{
    CHECK(steps.masked);
    steps.masked = false;
    if (steps.pending)
        come();
}

// `other` and `urgent` are of core 1; `task` runs on core 0.
static void build(void)
{
    stub_system(2);
    task = stub_task("task", 0);
    peer = build_task(stub.system, "peer", 0, 4, task->entry);
    other = build_task(stub.system, "other", 1, 5, task->entry);
    urgent = build_task(stub.system, "urgent", 1, 9, task->entry);
    wb_mutex_init(&mutex);
    wb_mutex_init(&second);
    stub_start(stub.system);
    stub_run(task);
}

/// What is tried: how it is prepared, the call, what comes in its midst, what must hold after it.
struct scene {
    void (*prepare)(void), (*call)(void), (*interrupt)(void), (*check)(void);
};

// Gives how many instructions it took, if no interrupt came.
static uint32_t play(const struct scene *scene, uint32_t at)
{
    build();
    scene->prepare();
    steps.count = 0;
    steps.at = at;
    steps.came = false;
    steps.interrupt = scene->interrupt;
    __writeeflags(__readeflags() | STEP);
    scene->call();
    __writeeflags(__readeflags() & ~(unsigned long long)STEP);
    steps.at = 0;
    scene->check();
    return steps.count;
}

/// Plays it without an interrupt, then with one after every instruction of the call in turn.
static void at_every_instruction(struct scene scene)
{
    const struct sigaction on = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO };
    struct sigaction old;

    CHECK(sigaction(SIGTRAP, &on, &old) == 0);
    const uint32_t all = play(&scene, 0), every = all / MOST + 1;
    for (uint32_t at = 1; at == 1 || steps.came; at += every)
        (void)play(&scene, at);
    CHECK(sigaction(SIGTRAP, &old, NULL) == 0);
}

// ---- A peer that leaves -------------------------------------------------------------------------

static void peer_waits(void)
{
    wb_word_store(&peer->owner_state, wb_owner_state(WB_TASK_BLOCKED, 0), WB_SEQ_CST);
    stub.unblocks = 0;
}

static void wake_peer(void)
{
    wb_task_wake(peer);
}

static uint32_t before_it_left;

static void peer_leaves(void)
{
    wb_word_store(&peer->owner_state, wb_owner_state(WB_TASK_BLOCKED, 1), WB_SEQ_CST);
    before_it_left = stub.unblocks;
}

static void never_unblocked_from_afar(void)
{
    const bool noted = wb_word_load(&stub.system->cores[1]->inbox.summary, WB_SEQ_CST) != 0;

    if (steps.came)
        CHECK(stub.unblocks == before_it_left && (stub.unblocks == 1 || noted));
    else
        CHECK(stub.unblocks == 1);
}

TEST(a_peer_that_leaves_is_never_unblocked_by_the_core_it_has_left)
{
    at_every_instruction((struct scene){ .prepare = peer_waits,
                                         .call = wake_peer,
                                         .interrupt = peer_leaves,
                                         .check = never_unblocked_from_afar });
}

// ---- A waiter that comes ------------------------------------------------------------------------

static void waits_for(struct wb_task *waiter, struct wb_mutex *what)
{
    wb_word_init(&waiter->sync.waits_for, &what->queue);
    (void)wb_word_swap(&what->queue.waited, 1, WB_RELEASE);
    wb_word_add(&task->sync.reevaluations, 1, WB_RELEASE);
    wb_inbox_post(stub.system->cores[0], task->id);
    stub_serve(0);
}

static void both_are_held(void)
{
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK && wb_mutex_lock(&second, 0) == WB_OK);
    waits_for(other, &second);
    CHECK(wb_sync_priority(&task->sync) == 5);
}

static void unlock(void)
{
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
}

static void urgent_waits(void)
{
    waits_for(urgent, &second);
}

static void nothing_is_stale(void)
{
    CHECK(wb_sync_priority(&task->sync) == (steps.came ? 9u : 5u));
    CHECK(!wb_sync_must_reevaluate(&task->sync));
}

TEST(a_priority_inherited_in_the_midst_of_another_is_kept)
{
    at_every_instruction((struct scene){ .prepare = both_are_held,
                                         .call = unlock,
                                         .interrupt = urgent_waits,
                                         .check = nothing_is_stale });
}

// ---- A barrier whose other task goes on, and is lost --------------------------------------------

static struct wb_barrier barrier;
static struct wb_participant participants[2];
static int status;

static void both_join(void)
{
    CHECK(wb_barrier_init(&barrier, participants, 2) == WB_OK);
    CHECK(wb_barrier_join(&barrier, task) == WB_OK && wb_barrier_join(&barrier, other) == WB_OK);
}

static void come_to_the_barrier(void)
{
    status = wb_barrier_wait(&barrier, 0);
}

// It comes for the next round, too, if this one has ended.
static void other_comes_twice_and_is_lost(void)
{
    stub_become(1, other);
    CHECK(wb_barrier_wait(&barrier, 0) != WB_ERR_GONE);
    CHECK(wb_barrier_wait(&barrier, 0) == WB_ERR_EMPTY);
    wb_word_store(&other->owner_state, wb_owner_state(WB_TASK_LOST, 1), WB_SEQ_CST);
    stub_become(0, task);
}

// The round is not missing anybody: it ends by whoever comes last.
static void the_round_ends(void)
{
    CHECK(status >= 0 || status == WB_ERR_EMPTY);
    if (steps.came && status == WB_ERR_EMPTY)
        CHECK(wb_barrier_wait(&barrier, 0) >= 0);
}

TEST(a_round_that_has_ended_is_not_told_to_miss_who_is_lost_after_it)
{
    at_every_instruction((struct scene){ .prepare = both_join,
                                         .call = come_to_the_barrier,
                                         .interrupt = other_comes_twice_and_is_lost,
                                         .check = the_round_ends });
}

#else

TEST(calls_in_single_steps)
{
    wb_test_skip("this processor has no flag for single steps");
}

#endif
