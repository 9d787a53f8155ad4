// SPDX-License-Identifier: Apache-2.0
// A kernel killed at any instruction of ending a task or closing a port does not keep the others
// waiting; killed in its heap, it leaves no block in two places.
// with: check.c build.c kernel_stub.c killed.c
#include "check.h"
#include "kernel_stub.h"
#include "killed.h"
#include "wb/wb.h"

// `task` runs on core 0, which dies; `peer` is on core 1, its successor. `other` sends too, to a
// mailbox.
static struct wb_task *task, *peer, *other;
static struct wb_port *out, *in, *other_out;

static void build(bool mailbox)
{
    struct wb_system *s = stub_open(&(struct wb_system_config){
        .cores = 2, .tasks = 3, .channels = 1, .ports = 3, .core_align = WB_LINE_BYTES });

    task = stub_task("task", 0);
    peer = stub_task("peer", 1);
    other = stub_task("other", 1);
    task->restart = true;
    struct wb_channel *channel = build_channel(s, "c", 3, sizeof(uint32_t), mailbox);
    out = build_port(task, channel, WB_OUT);
    in = build_port(peer, channel, WB_IN);
    other_out = mailbox ? build_port(other, channel, WB_OUT) : NULL;
    stub_start(s);
    stub_run(task);
}

static void build_sender(void)
{
    build(false);
}

static void build_mailbox_sender(void)
{
    build(true);
}

static enum wb_status put(struct wb_port *port, uint32_t message)
{
    return wb_port_send(port, &message, 0);
}

static enum wb_status get(uint32_t *message)
{
    return wb_port_receive(in, message, 0);
}

// ---- Ending -------------------------------------------------------------------------------------

static void end(void)
{
    CHECK(put(out, 1) == WB_OK);
    *killed_progress() = 1;
    stub_pause(WB_TASK_ENDED);
    *killed_progress() = 2;
}

// Whether it was ended, or starts again and ends then: its receiver sees the end, and so does the
// run.
static void check_ended(void)
{
    uint32_t message;

    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    if (wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) != WB_TASK_ENDED) {
        CHECK(*killed_progress() < 2 && task->restarts == 1);
        stub_run(task);
        stub_pause(WB_TASK_ENDED);
    }
    stub_run(peer);
    if (other_out != NULL)
        wb_port_close(other_out);
    const enum wb_status first = get(&message);
    CHECK(first == WB_OK || *killed_progress() == 0);
    CHECK(first == WB_ERR_GONE || get(&message) == WB_ERR_GONE);
    stub_pause(WB_TASK_ENDED);
    stub_run(other);
    stub_pause(WB_TASK_ENDED);
    stub_leave();
    wb_system_sweep(stub.system, stub.now_ns);
    CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 0);
}

TEST(a_task_that_was_killed_while_it_ended_does_not_keep_the_run_alive)
{
    killed_show(&(struct killed){ build_sender, end, check_ended }, 8);
    killed_show(&(struct killed){ build_mailbox_sender, end, check_ended }, 10);
}

static void close_port(void)
{
    CHECK(put(out, 1) == WB_OK);
    wb_port_close(out);
}

// The task may not start again: it is lost, and its ports are closed for it.
static void check_closed(void)
{
    uint32_t message;

    task->restart = false;
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 1);
    stub_run(peer);
    const bool had_one = get(&message) == WB_OK;
    CHECK(!had_one || message == 1);
    if (other_out != NULL) {
        CHECK(get(&message) == WB_ERR_EMPTY && put(other_out, 2) == WB_OK &&
              get(&message) == WB_OK);
        wb_port_close(other_out);
    }
    CHECK(get(&message) == WB_ERR_GONE);
}

TEST(a_task_that_was_killed_while_it_closed_a_port_leaves_it_closed)
{
    killed_show(&(struct killed){ build_sender, close_port, check_closed }, 5);
    killed_show(&(struct killed){ build_mailbox_sender, close_port, check_closed }, 6);
}

// ---- Heaps --------------------------------------------------------------------------------------

static void build_heap(void)
{
    build(false);
    stub_become(1, peer);
    wb_task_set_state(peer, wb_malloc(40));
    stub_become(0, task);
    wb_task_set_state(task, wb_malloc(40));
}

static void allocate_and_free(void)
{
    unsigned char *a = wb_malloc(40), *b = wb_malloc(200);

    CHECK(a != NULL && b != NULL);
    wb_free(a);
    CHECK(wb_malloc(40) == a);
    wb_free(b);
    wb_free(wb_task_state(peer));
    wb_free(wb_task_state(task));
    CHECK(wb_malloc(40) != NULL);
}

// Every block that is handed out lies in the heap and overlaps no other: nothing is in a list
// twice.
static void check_heap(struct wb_task *owner)
{
    const uintptr_t end = (uintptr_t)owner->heap.end, start = end - 4096;
    static bool used[4096];
    unsigned char *block;

    for (int i = 0; i < 4096; i++)
        used[i] = false;
    stub_become(1, owner);
    for (size_t bytes = 2000; bytes >= 16; bytes /= 2)
        while ((block = wb_malloc(bytes)) != NULL) {
            CHECK((uintptr_t)block >= start && (uintptr_t)block + bytes <= end);
            for (uintptr_t i = (uintptr_t)block - start; i < (uintptr_t)block - start + bytes;
                 i++) {
                CHECK(!used[i]);
                used[i] = true;
            }
        }
}

static void check_heaps(void)
{
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    check_heap(task);
    check_heap(peer);
}

TEST(a_heap_is_never_left_with_a_block_in_two_places)
{
    killed_show(&(struct killed){ build_heap, allocate_and_free, check_heaps }, 20);
}
