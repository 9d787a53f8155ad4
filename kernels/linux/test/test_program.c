// SPDX-License-Identifier: Apache-2.0
// Which programs tasks can be recreated from. It finds recreated.task beside itself.

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "host.h"
#include "hosted.h"

enum { STACK_BYTES = 64 << 10, LIMIT_MS = 60000 };

static unsigned int the_cpu;
static struct wb_host *lx;
static struct wb_task *task;
static char why[200];

static int no_entry(struct wb_task *self)
{
    wb_task_fail(self, "it has the entry of its program");
}

static const char *beside(const char *name)
{
    static char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);

    CHECK(n > 0);
    path[n] = '\0';
    if (name != NULL)
        strcpy(strrchr(path, '/') + 1, name);
    return path;
}

static void open_system(void)
{
    const struct wb_host_config config = { .system = { .cores = 1, .tasks = 2 },
                                           .memory_bytes = 1 << 20,
                                           .stacks_bytes = (size_t)2 * STACK_BYTES,
                                           .restarts = 3,
                                           .cpus = &the_cpu };

    the_cpu = (unsigned int)sched_getcpu();  // one that is allowed
    CHECK(wb_host_open(&lx, &config) == WB_OK);
    CHECK(wb_task_add(wb_host_system(lx),
                      &(struct wb_task_config){ .name = "recreated",
                                                .entry = no_entry,
                                                .priority = 8,
                                                .restart = true,
                                                .mode = WB_RECREATE,
                                                .stack = wb_host_stack(lx, STACK_BYTES),
                                                .stack_bytes = STACK_BYTES,
                                                .heap_bytes = 4096 },
                      &task) == WB_OK);
}

static void expect_fault(const char *text)
{
    uint32_t bad_core;

    CHECK(wb_host_start(lx, &bad_core) == WB_OK);
    CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_FAULT);
    CHECK(strstr(wb_host_system(lx)->fault.text, text) != NULL);
    wb_host_close(lx);
}

static void expect_refusal(const char *entry, enum wb_status status, const char *text)
{
    CHECK(wb_host_recreates(lx, task, entry, why, sizeof why) == status);
    CHECK(strstr(why, text) != NULL);
}

TEST(a_program_that_is_not_there_is_refused)
{
    open_system();
    CHECK(wb_host_program(lx, beside("no.task")) == WB_ERR_INVAL);
    wb_host_close(lx);
}

TEST(a_program_that_is_no_executable_is_refused)
{
    open_system();
    CHECK(wb_host_program(lx, "/etc/passwd") == WB_ERR_INVAL);
    wb_host_close(lx);
}

// Its functions lie elsewhere each time.
TEST(a_program_for_no_fixed_address_is_refused)
{
    open_system();
    CHECK(wb_host_program(lx, beside(NULL)) == WB_ERR_INVAL);
    wb_host_close(lx);
}

TEST(a_function_that_the_program_does_not_define_is_refused)
{
    open_system();
    CHECK(wb_host_program(lx, beside("recreated.task")) == WB_OK);
    expect_refusal("no_such_function", WB_ERR_INVAL,
                   "its program has no function no_such_function");
    wb_host_close(lx);
}

// The C library is linked into the program: a program that lacks an entry `exit` has one of that.
TEST(a_function_of_the_c_library_is_no_entry)
{
    open_system();
    CHECK(wb_host_program(lx, beside("recreated.task")) == WB_OK);
    expect_refusal("exit", WB_ERR_INVAL, "its program has no function exit: build it again");
    expect_refusal("abort", WB_ERR_INVAL, "its program has no function abort: build it again");
    wb_host_close(lx);
}

TEST(without_a_program_no_task_is_hosted)
{
    open_system();
    expect_refusal("stepper", WB_ERR_INVAL, "its program has no function stepper");
    wb_host_close(lx);
}

TEST(a_program_of_another_build_ends_the_run_and_says_so)
{
    open_system();
    CHECK(wb_host_program(lx, beside("recreated.task")) == WB_OK);
    CHECK(wb_host_recreates(lx, task, "stepper", why, sizeof why) == WB_OK);
    hosted_of(task, 0)->layout ^= 1;
    expect_fault("of another build");
}

TEST(a_program_without_room_for_its_words_is_refused)
{
    open_system();
    CHECK(wb_host_program(lx, beside("recreated.task")) == WB_OK);
    wb_host_system(lx)->arena = wb_host_system(lx)->arena_end;
    expect_refusal("stepper", WB_ERR_NOMEM, "there is no globally visible memory");
    wb_host_close(lx);
}

// Else a program that frees a block of another one might free one of its own.
TEST(no_two_programs_have_their_heaps_at_one_address)
{
    struct wb_task *other;

    open_system();
    CHECK(
        wb_task_add(wb_host_system(lx),
                    &(struct wb_task_config){
                        .name = "other", .entry = no_entry, .mode = WB_RECREATE, .heap_bytes = 1 },
                    &other) == WB_OK);
    CHECK(wb_host_program(lx, beside("recreated.task")) == WB_OK);
    CHECK(wb_host_recreates(lx, task, "stepper", why, sizeof why) == WB_OK);
    CHECK(wb_host_recreates(lx, other, "stepper", why, sizeof why) == WB_OK);
    CHECK(other->heap.base > task->heap.end && other->heap.end == other->heap.base + 1);
    CHECK((uintptr_t)other->heap.base % PAGE_BYTES == 0);
    wb_host_close(lx);
}

TEST(a_program_begins_anew_with_its_kernel)
{
    uint32_t bad_core;

    open_system();
    struct wb_word *over = wb_system_alloc(wb_host_system(lx), sizeof *over, WB_LINE_BYTES);
    wb_host_system(lx)->app.state = over;
    CHECK(wb_host_program(lx, beside("recreated.task")) == WB_OK);
    CHECK(wb_host_recreates(lx, task, "waiter", why, sizeof why) == WB_OK);
    CHECK(wb_host_start(lx, &bad_core) == WB_OK);
    pid_t before = 0, pid;
    for (uint32_t i = 0; i < 3; i++, before = pid) {
        while ((pid = hosted_pid(hosted_of(task, 0))) == 0 || pid == before)
            usleep(1000);
        kill(wb_host_pid(lx, 0), SIGKILL);
        CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_DIED);
        CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_RESTARTED);
    }
    wb_word_store(over, 1, WB_RELEASE);
    CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_ENDED);
    CHECK(task->restarts == 3);
    wb_host_close(lx);
}
