// SPDX-License-Identifier: Apache-2.0
// The work of tasks: what is refused, what a firing computes, and where tasks may not be.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "../src/context/context.h"
#include "check.h"
#include "kernel_stub.h"

static const uint64_t both[] = { 1000, 300 }, second_only[] = { 0, 300 };

// Cores 0 and 2 are of kind 0, core 1 is of kind 1.
static void open_kinds(bool models)
{
    const struct wb_system_config config = { .cores = 3,
                                             .tasks = 4,
                                             .channels = 2,
                                             .ports = 4,
                                             .core_align = 64,
                                             .record_migrations = 16,
                                             .offer_timeout_ns = 1000,
                                             .kinds = 2,
                                             .models_compute = models,
                                             .seed = 9 };
    stub_open(&config);
    for (uint32_t core = 0; core < 3; core++)
        CHECK(wb_core_set_kind(stub.system->cores[core], core % 2) == WB_OK);
}

static struct wb_work_config constant(const uint64_t *cycles)
{
    return (struct wb_work_config){ .cycles = cycles, .n_cycles = 2 };
}

static enum wb_status set_work(struct wb_task *task, struct wb_work_config config)
{
    return wb_task_set_work(task, &config);
}

TEST(a_firing_takes_the_cycles_of_the_kind_of_core_that_it_runs_on)
{
    open_kinds(true);
    struct wb_task *task = stub_task("t", 0);
    CHECK(set_work(task, constant(both)) == WB_OK);
    stub_become(0, task);
    CHECK(!wb_compute(task) && stub.computed == 1000);
    stub_become(1, task);
    CHECK(!wb_compute(task) && stub.computed == 1300);
}

TEST(who_computes_really_is_told_so_and_the_kernel_hears_of_it_as_well)
{
    open_kinds(false);
    struct wb_task *task = stub_task("t", 0), *without = stub_task("u", 0);
    CHECK(set_work(task, constant(both)) == WB_OK);
    stub_become(0, task);
    CHECK(wb_compute(task) && stub.computed == 1000);
    stub_become(0, without);
    CHECK(wb_compute(without) && stub.computed == 1000);
}

TEST(one_number_of_cycles_is_for_every_kind)
{
    open_kinds(true);
    struct wb_task *task = stub_task("t", 1);
    CHECK(set_work(task, (struct wb_work_config){ .cycles = both, .n_cycles = 1 }) == WB_OK);
    stub_become(1, task);
    (void)wb_compute(task);
    CHECK(stub.computed == 1000);
}

TEST(work_that_makes_no_sense_is_refused)
{
    static const uint64_t too_many[] = { WB_CYCLES_MAX + 1, 1 };
    open_kinds(true);
    struct wb_task *task = stub_task("t", 0);
    const struct wb_work_config bad[] = {
        { .cycles = both, .n_cycles = 0 },
        { .cycles = both, .n_cycles = 3 },
        { .cycles = too_many, .n_cycles = 2 },
        { .cycles = both, .n_cycles = 2, .spread_ppm = 1 },
        { .cycles = both, .n_cycles = 2, .distribution = WB_EXPONENTIAL, .spread_ppm = 1 },
        { .cycles = both, .n_cycles = 2, .distribution = WB_UNIFORM, .spread_ppm = 1000001 },
        { .cycles = both, .n_cycles = 2, .distribution = WB_NORMAL, .spread_ppm = 333334 },
        { .cycles = both, .n_cycles = 2, .distribution = (enum wb_distribution)7 },
        { .cycles = second_only, .n_cycles = 2 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(wb_task_set_work(task, &bad[i]) == WB_ERR_INVAL);
    CHECK(wb_task_runs_on(task, stub.system->cores[1]));
}

TEST(the_kind_of_a_core_exists_and_is_fixed_before_there_are_tasks)
{
    open_kinds(true);
    CHECK(wb_core_set_kind(stub.system->cores[0], 2) == WB_ERR_INVAL);
    stub_task("t", 0);
    CHECK(wb_core_set_kind(stub.system->cores[0], 1) == WB_ERR_INVAL);
}

TEST(a_task_is_not_asked_onto_a_core_that_it_does_not_run_on)
{
    open_kinds(true);
    struct wb_task *task = stub_task("t", 1);
    CHECK(set_work(task, constant(second_only)) == WB_OK);
    CHECK(wb_migration_request(task, 0, 1000, NULL) == WB_ERR_INVAL);
    CHECK(!wb_migration_pending(task));
    CHECK(!wb_task_runs_on(task, stub.system->cores[2]));
}

TEST(what_a_killed_kernel_leaves_goes_only_where_it_runs)
{
    open_kinds(true);
    struct wb_task *here = stub_task("here", 0), *nowhere = stub_task("nowhere", 1);
    static const uint64_t first_only[] = { 5, 0 };
    CHECK(set_work(here, constant(first_only)) == WB_OK);
    CHECK(set_work(nowhere, constant(second_only)) == WB_OK);
    stub_start(stub.system);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    (void)stub_serve(2);
    CHECK(wb_task_core(here) == 2);
    CHECK(wb_core_died(stub.system, 1) == 1);
    CHECK(wb_task_state_of(wb_word_load(&nowhere->owner_state, WB_SEQ_CST)) == WB_TASK_LOST);
}

TEST(a_stream_of_draws_goes_on_from_a_checkpoint_image)
{
    open_kinds(true);
    struct wb_task *task = stub_task("t", 0);
    static _Alignas(64) unsigned char image[1 << 16];
    const struct wb_work_config work = { .cycles = both,
                                         .n_cycles = 2,
                                         .distribution = WB_EXPONENTIAL };
    CHECK(wb_task_set_work(task, &work) == WB_OK);
    stub_start(stub.system);
    stub_become(0, task);
    (void)wb_compute(task);
    CHECK(wb_context_save(task, image, sizeof image, false) == WB_OK);
    const uint64_t before = stub.computed;
    (void)wb_compute(task);
    const uint64_t drawn = stub.computed - before;
    CHECK(wb_context_load(task, image) == WB_OK);
    (void)wb_compute(task);
    CHECK(stub.computed == before + 2 * drawn);
}

TEST(a_port_has_a_rate_of_one_unless_it_is_told)
{
    open_kinds(true);
    struct wb_task *from = stub_task("from", 0), *to = stub_task("to", 1);
    struct wb_channel *channel = stub_channel("c", 4, 8, false);
    struct wb_port *out = build_port(from, channel, WB_OUT);
    struct wb_port *in = build_port(to, channel, WB_IN);
    CHECK(wb_port_rate(out) == 1 && wb_port_rate(in) == 1);
    CHECK(wb_port_set_rate(out, 3) == WB_OK && wb_port_rate(out) == 3);
    CHECK(wb_port_set_rate(out, 0) == WB_ERR_INVAL);
    CHECK(wb_port_set_rate(out, WB_RATE_MAX + 1) == WB_ERR_INVAL && wb_port_rate(out) == 3);
}

TEST(ports_are_found_in_the_order_in_which_they_were_bound)
{
    open_kinds(true);
    struct wb_task *from = stub_task("from", 0), *to = stub_task("to", 1);
    struct wb_channel *first = stub_channel("c", 4, 8, false);
    struct wb_channel *second = stub_channel("d", 4, 8, false);
    CHECK(wb_port_add(from, first, WB_OUT, "a", 0) == WB_OK);
    CHECK(wb_port_add(to, first, WB_IN, "a", 0) == WB_OK);
    CHECK(wb_port_add(from, second, WB_IN, "b", 0) == WB_OK);
    struct wb_port *a = wb_port_next(from, NULL), *b = wb_port_next(from, a);
    CHECK(strcmp(wb_port_name(a), "a") == 0 && !wb_port_is_input(a));
    CHECK(strcmp(wb_port_name(b), "b") == 0 && wb_port_is_input(b));
    CHECK(wb_port_next(from, b) == NULL);
}

TEST(firings_and_periods_are_what_the_application_says)
{
    open_kinds(true);
    struct wb_task *task = stub_task("t", 0);
    struct wb_work_config work = constant(both);
    CHECK(wb_task_firings(task) == 0 && !wb_task_is_periodic(task));
    work.firings = 7;
    CHECK(set_work(task, work) == WB_OK && wb_task_firings(task) == 7);
    task->follows_rate = true;
    CHECK(!wb_task_is_periodic(task));
    wb_system_set_rate(stub.system, 50000);
    CHECK(wb_task_is_periodic(task));
}

TEST(a_system_has_a_bounded_number_of_kinds)
{
    struct wb_system_config config = { .cores = 1, .core_align = 64, .kinds = WB_KINDS_MAX + 1 };
    static _Alignas(64) unsigned char memory[1 << 16];
    struct wb_system *system;

    CHECK(wb_system_init(&system, memory, sizeof memory, &config) == WB_ERR_INVAL);
}
