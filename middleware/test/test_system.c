// SPDX-License-Identifier: Apache-2.0
// Unit tests of laying a system out.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"

static _Alignas(4096) unsigned char memory[1 << 20];

static const struct wb_system_config good = { .cores = 2,
                                              .tasks = 2,
                                              .channels = 2,
                                              .ports = 3,
                                              .core_align = 4096,
                                              .record_events = 16,
                                              .record_migrations = 4 };

static enum wb_status init(const struct wb_system_config *config, size_t bytes)
{
    struct wb_system *system;

    memset(memory, 0, sizeof memory);
    return wb_system_init(&system, memory, bytes, config);
}

static int entry(struct wb_task *self)
{
    (void)self;
    return 0;
}

static struct wb_task_config a_task(const char *name)
{
    return (struct wb_task_config){ .name = name, .entry = entry, .stack = memory };
}

static enum wb_status add_task(struct wb_task_config config)
{
    struct wb_task *task;
    return wb_task_add(stub.system, &config, &task);
}

static struct wb_channel_config a_channel(const char *name)
{
    return (struct wb_channel_config){ .name = name, .slots = 4, .slot_bytes = 8 };
}

static enum wb_status add_channel(struct wb_channel_config config)
{
    struct wb_channel *channel;
    return wb_channel_add(stub.system, &config, &channel);
}

// ---- The whole ----------------------------------------------------------------------------------

TEST(a_good_config_is_laid_out)
{
    stub_open(&good);
    CHECK(stub.system->n_cores == 2 && stub.system->n_tasks == 0);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK((uintptr_t)stub.system->cores[i] % 4096 == 0);
        CHECK(stub.system->cores[i]->index == i);
        CHECK(wb_word_load(&stub.system->cores[i]->state, WB_SEQ_CST) == WB_CORE_DOWN);
    }
}

TEST(a_config_that_can_never_work_is_refused)
{
    struct wb_system_config c = good;

    c.cores = 0;
    CHECK(init(&c, sizeof memory) == WB_ERR_INVAL);
    c.cores = WB_CORES_MAX + 1;
    CHECK(init(&c, sizeof memory) == WB_ERR_INVAL);
    c = good;
    c.tasks = WB_HOLDERS_MAX + 1;
    CHECK(init(&c, sizeof memory) == WB_ERR_INVAL);
    c = good;
    c.core_align = 32;
    CHECK(init(&c, sizeof memory) == WB_ERR_INVAL);
    c = good;
    c.record_events = 3;
    CHECK(init(&c, sizeof memory) == WB_ERR_INVAL);
    c = good;
    c.record_migrations = 12;
    CHECK(init(&c, sizeof memory) == WB_ERR_INVAL);
}

TEST(memory_that_is_not_aligned_is_refused)
{
    struct wb_system *system;

    CHECK(wb_system_init(&system, memory + 8, sizeof memory - 8, &good) == WB_ERR_INVAL);
}

TEST(the_bytes_asked_for_are_enough_and_one_less_is_refused)
{
    const size_t bytes = wb_system_bytes(&good);

    CHECK(bytes < sizeof memory);
    CHECK(init(&good, bytes) == WB_OK);
    CHECK(init(&good, bytes - 1) == WB_ERR_NOMEM);
}

TEST(memory_of_the_arena_is_aligned_and_ends)
{
    stub_open(&good);
    unsigned char *a = wb_system_alloc(stub.system, 3, 1), *b = wb_system_alloc(stub.system, 8, 8);
    CHECK(b >= a + 3 && (uintptr_t)b % 8 == 0);
    CHECK(wb_system_alloc(stub.system, SIZE_MAX, 1) == NULL);
    CHECK(wb_system_alloc(stub.system, SIZE_MAX - 63, 64) == NULL);
    const size_t left = (size_t)(stub.system->arena_end - stub.system->arena);
    CHECK(wb_system_alloc(stub.system, left, 1) != NULL);
    CHECK(wb_system_alloc(stub.system, 1, 1) == NULL);
}

// ---- Tasks --------------------------------------------------------------------------------------

TEST(a_task_is_what_its_config_says)
{
    struct wb_task *task;

    stub_open(&good);
    struct wb_task_config c = a_task("task");
    c.index = 4;
    c.core = 1;
    c.priority = 7;
    c.period_ns = 100;
    CHECK(wb_task_add(stub.system, &c, &task) == WB_OK);
    CHECK(strcmp(wb_task_name(task), "task") == 0 && wb_task_index(task) == 4);
    CHECK(wb_task_core(task) == 1 && wb_own_priority(task) == 7 && !task->migratable);
    CHECK(task->relative_deadline_ns == 100);
    CHECK(wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_NEW);
    CHECK(wb_task_find(&stub.system->app, "task", 4) == task);
}

TEST(a_task_that_can_never_run_is_refused)
{
    stub_open(&good);
    struct wb_task_config c = a_task("");
    CHECK(add_task(c) == WB_ERR_INVAL);
    c.name = "a name of more than thirty-one b";
    CHECK(strlen(c.name) == WB_NAME_BYTES && add_task(c) == WB_ERR_INVAL);
    c = a_task("task");
    c.core = 2;
    CHECK(add_task(c) == WB_ERR_INVAL);
    c = a_task("task");
    c.entry = NULL;
    CHECK(add_task(c) == WB_ERR_INVAL);
    CHECK(stub.system->n_tasks == 0);
}

TEST(tasks_may_share_a_name_but_not_the_index_with_it)
{
    stub_open(&good);
    struct wb_task_config c = a_task("task");
    CHECK(add_task(c) == WB_OK);
    CHECK(add_task(c) == WB_ERR_INVAL);
    c.index = 1;
    CHECK(add_task(c) == WB_OK);
}

TEST(tasks_beyond_the_bounds_are_refused)
{
    stub_open(&good);
    CHECK(add_task(a_task("one")) == WB_OK && add_task(a_task("two")) == WB_OK);
    CHECK(add_task(a_task("three")) == WB_ERR_NOMEM);
    CHECK(stub.system->n_tasks == 2);
}

TEST(a_heap_beyond_the_memory_is_refused)
{
    stub_open(&good);
    struct wb_task_config c = a_task("task");
    c.heap_bytes = SIZE_MAX / 2;
    CHECK(add_task(c) == WB_ERR_NOMEM);
}

// ---- Channels and ports -------------------------------------------------------------------------

TEST(a_channel_that_can_never_work_is_refused)
{
    stub_open(&good);
    struct wb_channel_config c = a_channel("");
    CHECK(add_channel(c) == WB_ERR_INVAL);
    c = a_channel("c");
    c.slots = 0;
    CHECK(add_channel(c) == WB_ERR_INVAL);
    c.slots = (1 << 15) + 1;
    CHECK(add_channel(c) == WB_ERR_INVAL);
    c = a_channel("c");
    c.slot_bytes = 0;
    CHECK(add_channel(c) == WB_ERR_INVAL);
    c = a_channel("c");
    c.initial = 5;
    CHECK(add_channel(c) == WB_ERR_INVAL);
    c.initial = 1;
    c.mailbox = true;
    CHECK(add_channel(c) == WB_ERR_INVAL);
    CHECK(stub.system->n_channels == 0);
}

TEST(slots_whose_size_cannot_be_rounded_up_are_refused)
{
    stub_open(&good);
    struct wb_channel_config c = a_channel("c");
    c.slot_bytes = UINT32_MAX;
    CHECK(add_channel(c) == WB_ERR_INVAL);
}

TEST(two_channels_cannot_have_one_name)
{
    stub_open(&good);
    CHECK(add_channel(a_channel("c")) == WB_OK);
    CHECK(add_channel(a_channel("c")) == WB_ERR_INVAL);
    CHECK(add_channel(a_channel("d")) == WB_OK);
}

TEST(channels_beyond_the_bounds_are_refused)
{
    stub_open(&good);
    struct wb_channel_config c = a_channel("c");
    c.slots = 1 << 15;
    c.slot_bytes = 1 << 20;
    CHECK(add_channel(c) == WB_ERR_NOMEM);
    CHECK(add_channel(a_channel("c")) == WB_OK && add_channel(a_channel("d")) == WB_OK);
    CHECK(add_channel(a_channel("e")) == WB_ERR_NOMEM);
}

TEST(a_channel_has_one_sender_and_one_receiver)
{
    struct wb_channel *channel;
    struct wb_task *one, *two;

    stub_open(&good);
    CHECK(wb_channel_add(stub.system,
                         &(struct wb_channel_config){ .name = "c", .slots = 2, .slot_bytes = 4 },
                         &channel) == WB_OK);
    one = stub_task("one", 0);
    two = stub_task("two", 0);
    CHECK(wb_port_add(one, channel, WB_OUT, "out", 0) == WB_OK);
    CHECK(wb_port_add(two, channel, WB_OUT, "out", 0) == WB_ERR_INVAL);
    CHECK(wb_port_add(two, channel, WB_IN, "in", 0) == WB_OK);
    CHECK(wb_port_add(one, channel, WB_IN, "in", 0) == WB_ERR_INVAL);
    CHECK(stub.system->n_ports == 2);
}

TEST(a_mailbox_has_many_senders_and_one_receiver)
{
    struct wb_task *one, *two;

    stub_open(&good);
    struct wb_channel *mailbox = stub_channel("m", 2, 4, true);
    one = stub_task("one", 0);
    two = stub_task("two", 0);
    CHECK(wb_port_add(one, mailbox, WB_OUT, "out", 0) == WB_OK);
    CHECK(wb_port_add(two, mailbox, WB_OUT, "out", 0) == WB_OK);
    CHECK(wb_port_add(two, mailbox, WB_IN, "in", 0) == WB_OK);
    CHECK(wb_port_add(one, mailbox, WB_IN, "in", 0) == WB_ERR_INVAL);
}

TEST(port_names_are_checked)
{
    stub_open(&good);
    struct wb_channel *c = stub_channel("c", 2, 4, true);
    struct wb_task *task = stub_task("task", 0);

    CHECK(wb_port_add(task, c, WB_OUT, "", 0) == WB_ERR_INVAL);
    CHECK(wb_port_add(task, c, WB_OUT, "port", 0) == WB_OK);
    CHECK(wb_port_add(task, c, WB_IN, "port", 0) == WB_ERR_INVAL);
    CHECK(wb_port_add(task, c, WB_OUT, "port", 1) == WB_OK);
    CHECK(wb_port_add(task, c, WB_OUT, "port", 2) == WB_OK);
    CHECK(wb_port_add(task, c, WB_OUT, "port", 3) == WB_ERR_NOMEM);
}

// ---- Start, stop, fault -------------------------------------------------------------------------

TEST(starting_posts_every_task_to_its_core)
{
    stub_open(&good);
    struct wb_task *one = stub_task("one", 0), *two = stub_task("two", 1);

    one->offset_ns = 5;
    CHECK(wb_system_start(stub.system, 100) == WB_OK);
    CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 2 && stub.system->start_ns == 100);
    CHECK(one->release.ns == 105 && two->release.ns == 100);
    CHECK(stub_serve(0) == 1 && stub.attached == one);
    CHECK(stub_serve(1) == 1 && stub.attached == two);
}

TEST(a_stack_that_its_kernel_refuses_stops_the_start)
{
    stub_open(&good);
    stub_task("one", 0);
    stub.init = WB_ERR_INVAL;
    CHECK(wb_system_start(stub.system, 0) == WB_ERR_INVAL);
}

TEST(stopping_is_seen_by_every_task_and_wakes_it)
{
    stub_open(&good);
    struct wb_task *one = stub_task("one", 0), *two = stub_task("two", 1);

    stub_start(stub.system);
    CHECK(!wb_stopping(one));
    wb_system_stop(stub.system);
    CHECK(wb_stopping(one) && wb_stopping(two));
    CHECK(stub_serve(0) == 1 && stub.unblocked == one);
    CHECK(stub_serve(1) == 1 && stub.unblocked == two);
}

TEST(only_the_first_fault_is_kept)
{
    stub_open(&good);
    struct wb_task *one = stub_task("one", 0);

    stub_become(1, one);
    wb_system_fault(stub.system, WB_FAULT_TRAP, one, "first");
    wb_system_fault(stub.system, WB_FAULT_TASK, NULL, "second");
    const struct wb_fault *fault = &stub.system->fault;
    CHECK(wb_word_load(&fault->complete, WB_SEQ_CST) == 1 && fault->kind == WB_FAULT_TRAP);
    CHECK(fault->task == one->id && fault->core == 1 && strcmp(fault->text, "first") == 0);
}

TEST(a_fault_without_a_task_says_so_and_its_text_is_cut)
{
    char text[2 * WB_ERROR_BYTES];

    stub_open(&good);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    wb_system_fault(stub.system, WB_FAULT_KERNEL, NULL, text);
    CHECK(stub.system->fault.task == UINT32_MAX && stub.system->fault.core == WB_CORE_NONE);
    CHECK(strlen(stub.system->fault.text) == WB_ERROR_BYTES - 1);
}

TEST(a_task_that_needs_what_the_kernels_cannot_do_is_refused)
{
    static const struct wb_task_config kinds[] = {
        { .name = "a", .mode = WB_REPLICATE },
        { .name = "b", .mode = WB_RECREATE },
        { .name = "c", .checkpoint_every = 1 },
        { .name = "d" },
    };
    static const uint32_t needs[] = { WB_CAN_REPLICATE, WB_CAN_RECREATE, WB_CAN_CAPTURE, 0 };
    struct wb_system *system = stub_system(1);
    struct wb_task *task;

    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct wb_task_config config = kinds[i];
        config.entry = entry;
        CHECK(wb_task_needs(&config) == needs[i]);
        stub.cannot = needs[i];
        if (needs[i] != 0)
            CHECK(wb_task_add(system, &config, &task) == WB_ERR_UNABLE && system->n_tasks == i);
        stub.cannot = ~needs[i];
        CHECK(wb_task_add(system, &config, &task) == WB_OK && task->id == i);
    }
}
