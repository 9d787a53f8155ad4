// SPDX-License-Identifier: Apache-2.0
// A frequency that is asked for while the core's task computes, on a made-up cpufreq: the launcher
// sets it in the kernel's place, and the kernel accounts for it from then on.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "one_task.h"
#include "private.h"
#include "sysfs.h"
#include "wb/launcher.h"
#include "wb/system.h"
#include "wb/wb.h"

enum { MS = 1000000, PATIENCE_MS = 60000, LONG_MS = 50 };
enum { BEGUN = 1, ASKED };

struct shared {  // globally visible
    struct wb_word stage;
};

static const struct wb_point points[] = { { .hz = 800000000 }, { .hz = 2000000000 } };
static char root[64], folder[128], journal[128];
static struct wb_host *host;

static const char *attribute(const char *name)
{
    static char path[SYSFS_PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *value)
{
    FILE *file = fopen(attribute(name), "w");

    CHECK(file != NULL && fputs(value, file) >= 0 && fclose(file) == 0);
}

static bool says(const char *name, const char *value)
{
    char text[64];

    return sysfs_read(attribute(name), text, sizeof text) && strcmp(text, value) == 0;
}

static void run_command(const char *form)
{
    char command[256];

    snprintf(command, sizeof command, form, root);
    CHECK(system(command) == 0);
}

// One processor under the governor `userspace`.
static void open_cpufreq(void)
{
    static const unsigned int cpu = 0;
    unsigned int bad;

    snprintf(root, sizeof root, "/tmp/wb-follow-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    run_command("mkdir -p '%s/devices/system/cpu/cpu0/cpufreq'");
    snprintf(folder, sizeof folder, "%s/devices/system/cpu/cpu0/cpufreq", root);
    snprintf(journal, sizeof journal, "%s/journal", root);
    put("scaling_min_freq", "800000\n");
    put("scaling_max_freq", "2000000\n");
    put("scaling_governor", "schedutil\n");
    put("scaling_setspeed", "<unsupported>\n");
    put("scaling_available_governors", "userspace schedutil\n");
    frequency_use(FREQUENCY_CPUFREQ);
    CHECK(cpufreq_open(root, &cpu, 1, journal, &bad) == NULL);
}

static int computer(struct wb_task *self)
{
    struct shared *s = wb_task_app(self)->state;

    wb_word_store(&s->stage, BEGUN, WB_SEQ_CST);
    while (wb_word_load(&s->stage, WB_SEQ_CST) != ASKED) {}
    const uint64_t until_ns = wb_now_ns() + (uint64_t)LONG_MS * MS;
    while (wb_now_ns() < until_ns) {}
    wb_checkpoint();
    return 0;
}

static int endless(struct wb_task *self)
{
    struct shared *s = wb_task_app(self)->state;

    wb_word_store(&s->stage, BEGUN, WB_SEQ_CST);
    while (wb_word_load(&s->stage, WB_SEQ_CST) == BEGUN) {}
    return 0;
}

static struct shared *start(wb_task_entry *entry)
{
    const struct wb_host_config config = { .system.agent_period_ns = (uint64_t)PATIENCE_MS * MS };
    uint32_t bad_core;

    host = one_task_open(config, entry, sizeof(struct shared));
    struct wb_system *system = wb_host_system(host);
    CHECK(wb_core_set_points(system->cores[0], points, 2, 0) == WB_OK);
    CHECK(wb_host_start(host, &bad_core) == WB_OK);
    struct shared *s = system->app.state;
    while (wb_word_load(&s->stage, WB_SEQ_CST) != BEGUN)
        CHECK(wb_host_wait(host, 1).kind == WB_HOST_NOTHING);
    return s;
}

TEST(a_frequency_takes_force_while_the_task_computes)
{
    open_cpufreq();
    struct shared *s = start(computer);
    struct wb_system *system = wb_host_system(host);
    struct wb_core *core = system->cores[0];

    (void)wb_word_swap(&core->wanted_point, 1, WB_RELAXED);
    (void)wb_word_or(&core->inbox.summary, 1, WB_RELAXED);  // a ring without a note
    CHECK(says("scaling_setspeed", "800000"));
    frequency_follow(system);
    CHECK(says("scaling_setspeed", "2000000"));
    CHECK(wb_word_load(&core->point, WB_SEQ_CST) == 0);
    wb_word_store(&s->stage, ASKED, WB_SEQ_CST);
    CHECK(wb_host_wait(host, PATIENCE_MS).kind == WB_HOST_ENDED);
    CHECK(wb_word_load(&core->point, WB_SEQ_CST) == 1);
    CHECK(wb_core_residence(core, 1, clock_now_ns()).active_ns >= (uint64_t)LONG_MS * MS);
    wb_host_close(host);
    CHECK(cpufreq_restore(journal));
    run_command("rm -rf '%s'");
}

TEST(a_task_that_runs_when_the_run_is_cut_off_counts)
{
    frequency_use(FREQUENCY_NONE);
    start(endless);
    struct wb_system *system = wb_host_system(host);
    const uint64_t from_ns = clock_now_ns();

    while (clock_now_ns() < from_ns + (uint64_t)LONG_MS * MS)
        CHECK(wb_host_wait(host, 1).kind == WB_HOST_NOTHING);
    wb_host_kill(host);
    CHECK(wb_counter_get(&system->tasks[0].stats.busy_ns) == 0);
    wb_system_settle(system, clock_now_ns());
    CHECK(wb_counter_get(&system->tasks[0].stats.busy_ns) >= (uint64_t)LONG_MS * MS);
    CHECK(wb_counter_get(&system->cores[0]->stats.busy_ns) ==
          wb_counter_get(&system->tasks[0].stats.busy_ns));
    wb_host_close(host);
}
