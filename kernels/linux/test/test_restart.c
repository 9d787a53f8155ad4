// SPDX-License-Identifier: Apache-2.0
// Kernels of this machine that are killed and started again; test_guests.c does the same with
// emulators.

#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "host.h"
#include "private.h"

enum { STACK_BYTES = 64 << 10, LIMIT_MS = 60000 };

static struct wb_host *lx;

// What the task tells; the launcher sees it as well.
static struct told {
    struct wb_word begun, ends;
    uint32_t files[8];
} * told;

static uint32_t count_files(void)
{
    DIR *files = opendir("/proc/self/fd");
    uint32_t n = 0;

    while (readdir(files) != NULL)
        n++;
    closedir(files);
    return n;
}

// Begins anew with each kernel that is killed under it.
static int begins(struct wb_task *self)
{
    const uint32_t begun = wb_word_load(&told->begun, WB_SEQ_CST);

    (void)self;
    told->files[begun] = count_files();
    wb_word_store(&told->begun, begun + 1, WB_SEQ_CST);
    while (wb_word_load(&told->ends, WB_SEQ_CST) == 0)
        wb_checkpoint();
    return 0;
}

static void start(uint32_t cores, uint32_t restarts)
{
    static unsigned int cpus[2];
    struct wb_task *task;
    uint32_t bad_core;

    cpus[0] = cpus[1] = (unsigned int)sched_getcpu();
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(wb_host_open(
              &lx, &(struct wb_host_config){ .system = { .cores = cores, .tasks = 1, .kinds = 2 },
                                             .memory_bytes = 1 << 20,
                                             .stacks_bytes = STACK_BYTES,
                                             .restarts = restarts,
                                             .cpus = cpus }) == WB_OK);
    CHECK(wb_core_set_kind(wb_host_system(lx)->cores[0], 1) == WB_OK);
    CHECK(wb_task_add(wb_host_system(lx),
                      &(struct wb_task_config){ .name = "begins",
                                                .entry = begins,
                                                .priority = 8,
                                                .restart = true,
                                                .stack = wb_host_stack(lx, STACK_BYTES),
                                                .stack_bytes = STACK_BYTES,
                                                .heap_bytes = 4096 },
                      &task) == WB_OK);
    task->work.not_on = 1;
    CHECK(wb_host_start(lx, &bad_core) == WB_OK);
}

static void await_begun(uint32_t times)
{
    for (int i = 0; i < LIMIT_MS && wb_word_load(&told->begun, WB_SEQ_CST) < times; i++)
        usleep(1000);
    CHECK(wb_word_load(&told->begun, WB_SEQ_CST) == times);
}

static void end(void)
{
    CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_ENDED);
    wb_host_close(lx);
    munmap(told, sizeof *told);
}

static struct wb_host_event expect(enum wb_host_event_kind kind)
{
    const struct wb_host_event event = wb_host_wait(lx, LIMIT_MS);

    CHECK(event.kind == kind && event.core == 0);
    return event;
}

TEST(a_task_that_no_other_core_can_take_begins_anew_with_its_kernel)
{
    for (uint32_t cores = 1; cores <= 2; cores++) {
        start(cores, 3);
        for (uint32_t i = 1; i <= 3; i++) {
            await_begun(i);
            const pid_t pid = wb_host_pid(lx, 0);
            kill(pid, SIGKILL);
            const struct wb_host_event death = expect(WB_HOST_DIED);
            CHECK(death.returns && death.restarted == 1 && death.lost == 0 && death.pid == pid);
            CHECK(expect(WB_HOST_RESTARTED).pid != pid);
        }
        await_begun(4);
        wb_word_store(&told->ends, 1, WB_SEQ_CST);
        end();
    }
}

TEST(it_is_lost_once_its_kernel_has_been_started_as_often_as_was_said)
{
    start(2, 1);
    await_begun(1);
    kill(wb_host_pid(lx, 0), SIGKILL);
    CHECK(expect(WB_HOST_DIED).returns);
    expect(WB_HOST_RESTARTED);
    await_begun(2);
    kill(wb_host_pid(lx, 0), SIGKILL);
    const struct wb_host_event death = expect(WB_HOST_DIED);
    CHECK(!death.returns && death.lost == 1);
    end();
}

TEST(a_kernel_is_started_again_when_that_is_asked)
{
    const char *why;

    start(1, 0);
    await_begun(1);
    CHECK(wb_host_restart(lx, 0, &why) == WB_OK);
    expect(WB_HOST_DIED);
    expect(WB_HOST_RESTARTED);
    await_begun(2);
    wb_word_store(&told->ends, 1, WB_SEQ_CST);
    end();
}

// As the first one: what the launcher has opened since is no business of a kernel.
TEST(a_kernel_that_is_started_again_has_the_files_of_the_first)
{
    start(1, 1);
    await_begun(1);
    const int opened = open("/dev/null", O_RDONLY);
    kill(wb_host_pid(lx, 0), SIGKILL);
    expect(WB_HOST_DIED);
    expect(WB_HOST_RESTARTED);
    await_begun(2);
    CHECK(told->files[0] == told->files[1] && opened >= 0);
    wb_word_store(&told->ends, 1, WB_SEQ_CST);
    end();
    close(opened);
}
