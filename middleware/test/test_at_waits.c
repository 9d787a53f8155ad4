// SPDX-License-Identifier: Apache-2.0
// Unit tests of tasks whose waits are checkpoints: each kind of wait lets one that is asked move.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

// `task` on core 0 waits, and is asked to move to core 1; `peer` is on core 2.
static struct wb_task *task, *peer;
static struct wb_port *in, *out, *sender, *receiver;
static struct wb_semaphore semaphore;
static struct wb_mutex mutex;
static uint32_t message;
static void (*satisfy)(void);

static void take_in(struct wb_task *moved)
{
    (void)moved;
    CHECK(stub_serve(1) == 1);
}

static void as_peer(void)
{
    stub_become(2, peer);
}

// The first time it is woken by a request, afterwards by what it waits for.
static void ask_then_satisfy(uint64_t until_ns)
{
    const uint32_t here = stub.core;

    if (stub.blocks == 1) {
        CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
        return;
    }
    as_peer();
    if (satisfy != NULL)
        satisfy();
    else
        stub.now_ns = until_ns;
    stub_become(here, task);
}

static void setup(bool at_waits)
{
    stub_system(3);
    task = stub_task("task", 0);
    peer = stub_task("peer", 2);
    task->moves_at_waits = at_waits;
    struct wb_channel *there = stub_channel("there", 1, sizeof message, false);
    struct wb_channel *back = stub_channel("back", 1, sizeof message, false);
    in = build_port(task, back, WB_IN);
    out = build_port(task, there, WB_OUT);
    sender = build_port(peer, back, WB_OUT);
    receiver = build_port(peer, there, WB_IN);
    CHECK(wb_semaphore_init(&semaphore, 0, 1) == WB_OK);
    wb_mutex_init(&mutex);
    stub.now_ns = 100;
    stub.on_block = ask_then_satisfy;
    stub.on_away = take_in;
    satisfy = NULL;
    stub_start(stub.system);
    stub_run(task);
}

// ---- Each wait ----------------------------------------------------------------------------------

static void send(void)
{
    CHECK(wb_port_send(sender, &message, 0) == WB_OK);
}

static void receive(void)
{
    CHECK(wb_port_receive(receiver, &message, 0) == WB_OK);
}

static void give(void)
{
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
}

static void unlock(void)
{
    CHECK(wb_mutex_unlock(&mutex) == WB_OK);
}

static void wait_for_a_message(void)
{
    satisfy = send;
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_OK);
}

static void wait_for_room(void)
{
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    satisfy = receive;
    CHECK(wb_port_send(out, &message, WB_FOREVER) == WB_OK);
}

static void wait_for_a_permit(void)
{
    satisfy = give;
    CHECK(wb_semaphore_take(&semaphore, WB_FOREVER) == WB_OK);
}

static void wait_for_a_mutex(void)
{
    as_peer();
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK);
    stub_become(0, task);
    satisfy = unlock;
    CHECK(wb_mutex_lock(&mutex, WB_FOREVER) == WB_OK);
}

static void wait_for_a_set(void)
{
    struct wb_wait set[] = { { .semaphore = &semaphore }, { .port = in } };

    satisfy = send;
    CHECK(wb_wait(set, 2, WB_FOREVER) == 1);
}

static void wait_for_a_time(void)
{
    wb_sleep_until(5000);
    CHECK(stub.now_ns == 5000);
}

static void wait_in_vain(void)
{
    CHECK(wb_port_receive(in, &message, 400) == WB_ERR_TIMEOUT);
    CHECK(stub.now_ns == 500);
}

static void (*const waits[])(void) = { wait_for_a_message, wait_for_room,  wait_for_a_permit,
                                       wait_for_a_mutex,   wait_for_a_set, wait_for_a_time,
                                       wait_in_vain };
enum { WAITS = sizeof waits / sizeof waits[0] };

TEST(a_task_moves_in_the_midst_of_each_wait_and_waits_on)
{
    for (uint32_t i = 0; i < WAITS; i++) {
        setup(true);
        waits[i]();
        CHECK(stub.blocks == 2 && wb_task_core(task) == 1 && wb_task_migrations(task) == 1);
        CHECK(!wb_migration_pending(task));
    }
}

TEST(without_being_told_so_it_moves_at_its_next_checkpoint)
{
    for (uint32_t i = 0; i < WAITS; i++) {
        setup(false);
        waits[i]();
        CHECK(stub.blocks == 2 && wb_task_core(task) == 0 && wb_migration_pending(task));
        wb_checkpoint_enter();
        CHECK(wb_task_core(task) == 1 && wb_task_migrations(task) == 1);
    }
}

// ---- What stands in the way ---------------------------------------------------------------------

static enum wb_status outcome(void)
{
    return wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST));
}

TEST(what_is_held_is_refused_as_at_a_checkpoint)
{
    setup(true);
    CHECK(wb_lock(&message, 0) == WB_OK);
    wait_for_a_message();
    CHECK(wb_task_core(task) == 0 && outcome() == WB_ERR_HELD);
    setup(true);
    stub.depart = WB_ERR_HELD;
    wait_for_a_message();
    CHECK(wb_task_core(task) == 0 && outcome() == WB_ERR_HELD);
    CHECK(wb_counter_get(&task->stats.refused) == 1);
}

TEST(messages_in_hand_and_claimed_slots_go_along)
{
    const void *held;
    void *claimed;

    setup(true);
    as_peer();
    message = 9;
    send();
    stub_become(0, task);
    CHECK(wb_port_hold(in, &held, 0) == WB_OK && wb_port_claim(out, &claimed, 0) == WB_OK);
    wait_for_a_permit();
    CHECK(wb_task_core(task) == 1 && *(const uint32_t *)held == 9);
    *(uint32_t *)claimed = 10;
    CHECK(wb_port_release(in) == WB_OK && wb_port_commit(out) == WB_OK);
    as_peer();
    receive();
    CHECK(message == 10);
}

TEST(no_image_is_taken_where_a_task_waits)
{
    setup(true);
    task->checkpoint_every = 1;
    wait_for_a_message();
    CHECK(wb_task_core(task) == 1 && stub.captures == 0);
    task->checkpoint_every = 0;
}
