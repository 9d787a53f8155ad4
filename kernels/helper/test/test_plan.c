// SPDX-License-Identifier: Apache-2.0
// The plan's parser: what it takes, what it refuses, and that no input breaks it.

#define _GNU_SOURCE
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define ONES                                                                                       \
    "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"  // one more than there are
                                                                         // kinds

static const char *const good[] = {
    "whimbrel 1",
    "core 0",
    "core 1 1",
    "module /tmp/with%20space/radio.so",
    "memory 65536",
    "shared 2097152",
    "spin forever",
    "transport buffer",
    "offer 50000000",
    "record /tmp/run",
    "param gains [1,2] 1 2.5",
    "param empty ",
    "channel a_b slots 14 bytes 4096 initial 0 mailbox 0",
    "task bpf 2 entry band_pass mode replicate core 1 priority 8 stack 65536 heap 262144 "
    "migratable 1 restart 0 period 1000000 deadline 1000000 offset 8000000 frame 1 image 5 replay "
    "1",
    "compute model",
    "seed 18446744073709551615",
    "work bpf 2 distribution normal spread 200000 working 16384 traffic 4096 firings 100 cycles 0 "
    "1000",
    "port bpf 2 in in 0 a_b 3",
    "point 0 100000000 84000 8400",
    "point 0 500000000 1000000 100000 start",
    "frequency emulate",
    "journal /tmp/run/frequencies",
    "agents 10000000",
    "coordinator 1",
    "policy table limit=700000 delay=5",
    "row 450000 0 2 1",
    "row 900000 4 4 0",
    "rate 450000",
    "start",
};

enum { LINES = sizeof good / sizeof good[0] };

// Takes a copy of a line, as it comes over the socket. Returns what is wrong with it.
static const char *take(struct plan *plan, const char *line)
{
    struct words words = { 0 };
    char *copy = strdup(line);
    const char *wrong = words_split(&words, copy) ? plan_take(plan, &words) : "escape";

    words_free(&words);
    free(copy);
    return wrong;
}

static struct plan whole_plan(void)
{
    struct plan plan = { 0 };

    for (int i = 0; i < LINES; i++)
        CHECK(take(&plan, good[i]) == NULL);
    return plan;
}

TEST(a_whole_plan_is_taken_word_for_word)
{
    struct plan plan = whole_plan();

    CHECK(plan.complete);
    CHECK(plan.n_cpus == 2 && plan.cpus[1] == 1);
    CHECK(strcmp(plan.module, "/tmp/with space/radio.so") == 0);
    CHECK(plan.spin_ns == WB_FOREVER && plan.memory_bytes == 65536);
    CHECK(plan.shared_bytes == 2097152);
    CHECK(plan.n_params == 2 && plan.params[0].n_numbers == 2);
    CHECK(plan.params[0].numbers[1] > 2.4 && plan.params[0].numbers[1] < 2.6);
    CHECK(plan.params[1].text[0] == '\0');
    CHECK(plan.channels[0].slots == 14 && plan.channels[0].slot_bytes == 4096);
    CHECK(plan.tasks[0].config.index == 2 && plan.tasks[0].config.offset_ns == 8000000);
    CHECK(strcmp(plan.tasks[0].entry, "band_pass") == 0);
    CHECK(plan.transport == WB_TRANSPORT_BUFFER);
    CHECK(plan.tasks[0].config.mode == WB_REPLICATE && plan.tasks[0].config.replay);
    CHECK(plan.tasks[0].config.checkpoint_every == 5);
    CHECK(plan.n_points == 2 && plan.points[1].point.hz == 500000000);
    CHECK(plan.points[1].core == 0 && plan.points[1].start && !plan.points[0].start);
    CHECK(plan.points[0].point.active_uw == 84000 && plan.points[0].point.idle_uw == 8400);
    CHECK(plan.frequency == FREQUENCY_EMULATE);
    CHECK(strcmp(plan.journal, "/tmp/run/frequencies") == 0);
    CHECK(plan.kinds[0] == 0 && plan.kinds[1] == 1 && plan_kinds(&plan) == 2);
    CHECK(plan.works.models_compute && plan.works.seed == UINT64_MAX && plan.works.n == 1);
    CHECK(strcmp(plan.works.all[0].task, "bpf") == 0 && plan.works.all[0].index == 2);
    CHECK(plan.works.all[0].config.distribution == WB_NORMAL);
    CHECK(plan.works.all[0].config.spread_ppm == 200000);
    CHECK(plan.works.all[0].config.working_bytes == 16384);
    CHECK(plan.works.all[0].config.traffic_bytes == 4096);
    CHECK(plan.works.all[0].config.firings == 100 && plan.works.all[0].config.n_cycles == 2);
    CHECK(plan.works.all[0].config.cycles[0] == 0 && plan.works.all[0].config.cycles[1] == 1000);
    CHECK(plan.ports[0].rate == 3);
    CHECK(plan.ports[0].direction == WB_IN && strcmp(plan.ports[0].channel, "a_b") == 0);
    CHECK(plan.policy.agents_ns == 10000000 && plan.policy.coordinator == 1);
    CHECK(strcmp(plan.policy.name, "table") == 0 && plan.policy.n_params == 2);
    CHECK(strcmp(plan.policy.params[1], "delay=5") == 0 && plan.policy.rate_millihz == 450000);
    CHECK(plan.policy.n_rows == 2 && plan.policy.rows[1].rate_millihz == 900000);
    CHECK(plan.policy.rows[0].n_numbers == 3 && plan.policy.rows[0].numbers[1] == 2);
    CHECK(plan_memory_bytes(&plan) > 14 * 4096 + 262144 + 65536);
    CHECK(plan_stacks_bytes(&plan) == 0);
    CHECK(plan_private_bytes(&plan) == 65536 + 262144 && plan_private_parts(&plan) == 2);
    plan_free(&plan);
}

TEST(a_pool_above_its_bound_is_refused)
{
    struct plan plan = { .greeted = true };

    CHECK(take(&plan, "shared 1073741824") == NULL);
    CHECK(take(&plan, "shared 1073741825") != NULL);
    CHECK(take(&plan, "shared") != NULL);
    plan_free(&plan);
}

TEST(a_plan_of_another_version_is_refused)
{
    struct plan plan = { 0 };

    CHECK(take(&plan, "whimbrel 2") != NULL);
    CHECK(take(&plan, "core 0") != NULL);
    plan_free(&plan);
}

TEST(a_start_without_a_core_a_module_or_a_task_is_refused)
{
    struct plan plan = { 0 };

    CHECK(take(&plan, "whimbrel 1") == NULL);
    CHECK(take(&plan, "start") != NULL);
    CHECK(!plan.complete);
    plan_free(&plan);
}

TEST(malformed_lines_are_refused)
{
    static const char *const bad[] = {
        "",
        "core",
        "core -1",
        "core 99999999999999999999",
        "core 1 32",
        "core 1 0 0",
        "module",
        "module a%2",
        "module a%zz",
        "param",
        "param key",
        "param key text 1.5x",
        "channel c slots 1 bytes 2 initial 3",
        "channel c slots 5000000000 bytes 2 initial 0 mailbox 0",
        "channel c bytes 1 slots 2 initial 0 mailbox 0",
        "task t 0 entry",
        "task t 0 entry f core 0 priority 32 stack 1 heap 1 migratable 1 restart 0 period 0 "
        "deadline 0 offset 0",
        "port t 0 up p 0 c",
        "port t 0 in p",
        "port t 0 in p 0 c x",
        "port t 0 in p 0 c 1 1",
        "compute",
        "compute maybe",
        "seed",
        "seed -1",
        "work t 0 distribution even spread 0 working 0 traffic 0 firings 0 cycles 1",
        "work t 0 distribution uniform spread 0 working 0 traffic 0 firings 0 cycles",
        "work t 0 distribution uniform spread 5000000000 working 0 traffic 0 firings 0 cycles 1",
        "work t 0 distribution uniform spread 0 working 0 traffic 0 cycles 1",
        "work t 0 distribution uniform spread 0 working 0 traffic 0 firings 0 cycles 1 -1",
        "work t 0 distribution constant spread 0 working 0 traffic 0 firings 0 cycles " ONES,
        "point 0 1 1",
        "point 0 1 1 1 end",
        "point 0 1 5000000000 1",
        "point 0 1 1 5000000000",
        "point 5000000000 1 1 1",
        "frequency",
        "frequency turbo",
        "start now",
        "agents",
        "agents -1",
        "agents 1",
        "agents forever",
        "coordinator 5000000000",
        "policy",
        "policy ",
        "row",
        "row x",
        "row 1 2 -3",
        "rate 5000000000",
        "hello",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct plan plan = { 0 };
        CHECK(take(&plan, good[0]) == NULL);
        CHECK(take(&plan, bad[i]) != NULL);
        plan_free(&plan);
    }
}

static bool fits(const char *const *lines, uint32_t n)
{
    struct plan plan = { 0 };
    bool whole = true;

    for (int i = 0; i < LINES - 7; i++)  // without those that say who decides
        CHECK(take(&plan, good[i]) == NULL);
    for (uint32_t i = 0; i < n; i++)
        CHECK(take(&plan, lines[i]) == NULL);
    whole = take(&plan, "start") == NULL;
    plan_free(&plan);
    return whole;
}

TEST(rows_and_coordinator_must_fit_cores_and_tasks)
{
    CHECK(fits((const char *const[]){ "row 1 0 0 1", "row 2 0 0 0" }, 2));
    CHECK(!fits((const char *const[]){ "row 1 0 0" }, 1));
    CHECK(!fits((const char *const[]){ "row 1 0 0 0 0" }, 1));
    CHECK(!fits((const char *const[]){ "row 1 0 0 2" }, 1));
    CHECK(!fits((const char *const[]){ "row 2 0 0 0", "row 2 0 0 1" }, 2));
    CHECK(!fits((const char *const[]){ "coordinator 2" }, 1));
}

TEST(a_second_policy_is_refused)
{
    struct plan plan = whole_plan();

    CHECK(take(&plan, "policy static") != NULL);
    plan_free(&plan);
}

TEST(no_change_of_a_byte_breaks_the_parser)
{
    uint32_t random = 12345, accepted = 0;

    for (int round = 0; round < 20000; round++) {
        struct plan plan = { 0 };
        for (int i = 0; i < LINES; i++) {
            char line[512];
            snprintf(line, sizeof line, "%s", good[i]);
            random = random * 1664525 + 1013904223;
            if ((random >> 28) == 0 && line[0] != '\0')
                line[(random >> 8) % strlen(line)] = (char)(random >> 16 | 1);
            accepted += take(&plan, line) == NULL;
        }
        plan_free(&plan);
    }
    CHECK(accepted > 20000);
}

TEST(lines_arrive_in_any_pieces)
{
    int ends[2];
    struct lines lines = { 0 };
    static const char text[] = "one two\nthree\nfo";

    CHECK(pipe(ends) == 0);
    lines.fd = ends[0];
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        CHECK(write(ends[1], &text[i], 1) == 1);
        lines_read(&lines);
    }
    CHECK(strcmp(lines_next(&lines), "one two") == 0);
    CHECK(strcmp(lines_next(&lines), "three") == 0);
    CHECK(lines_next(&lines) == NULL);
    close(ends[1]);
    lines_read(&lines);
    CHECK(lines.closed && lines_next(&lines) == NULL);
    close(ends[0]);
    lines_free(&lines);
}

TEST(a_line_without_an_end_does_not_grow_for_ever)
{
    int ends[2];
    struct lines lines = { 0 };
    static char chunk[4096];

    memset(chunk, 'a', sizeof chunk);
    CHECK(pipe(ends) == 0);
    lines.fd = ends[0];
    for (int i = 0; i < 1000 && !lines.closed; i++) {
        CHECK(write(ends[1], chunk, sizeof chunk) == sizeof chunk);
        lines_read(&lines);
    }
    CHECK(lines.closed && lines.room <= 1 << 20);
    close(ends[0]);
    close(ends[1]);
    lines_free(&lines);
}
