// SPDX-License-Identifier: Apache-2.0
// How guests are started, and what is wrong with some. Here a guest is this program once more, in a
// process of its own that maps the memory as an emulator does, and has kernels that run nothing.

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "guest.h"
#include "host.h"
#include "plan.h"
#include "private.h"

enum { STACK_BYTES = 64 << 10, LIMIT_MS = 60000, GUEST_CORES = 2, CORES = 3 };

#define PLAN_HASH "0123456789abcdef"

// ---- The guest ----------------------------------------------------------------------------------

static int line_of(int argc, char **argv)
{
    int fd = -1;

    for (int i = 0; i < argc; i++)
        (void)sscanf(argv[i], "socket,id=gvm,fd=%d", &fd);
    return fd;
}

// One message of the server of ivshmem. False: there is none.
static bool hear(int line, int64_t *number, int *fd)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof *fd)];
    } control;
    struct iovec part = { .iov_base = number, .iov_len = sizeof *number };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.room,
                              .msg_controllen = sizeof control.room };

    *fd = -1;
    if (recvmsg(line, &message, MSG_DONTWAIT) != (ssize_t)sizeof *number)
        return false;
    if (message.msg_controllen != 0)
        memcpy(fd, CMSG_DATA(&control.header), sizeof *fd);
    return true;
}

// Returns how many doorbells it heard of.
static int map_memory(int line, struct wb_guest **page)
{
    int64_t number;
    int fd, doorbells = 0;

    while (hear(line, &number, &fd))
        if (number == -1) {
            const off_t bytes = lseek(fd, 0, SEEK_END);
            if (mmap(GVM_BASE, (size_t)bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) != GVM_BASE)
                _exit(7);
            *page = wb_guest_page((uint64_t)bytes, 0);
        } else {
            doorbells += fd >= 0;
        }
    return doorbells;
}

static void answer(struct wb_guest *page, bool loses)
{
    uint32_t ping = 0;

    while (wb_word_load(&page->count, WB_ACQUIRE) == 0) {
        struct timespec now;
        if (wb_word_load(&page->ping, WB_ACQUIRE) == ping)
            continue;
        ping = wb_word_load(&page->ping, WB_ACQUIRE);
        clock_gettime(CLOCK_MONOTONIC, &now);
        page->now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
        wb_word_store(&page->pong, ping, WB_RELEASE);
    }
    for (uint32_t i = loses ? 5 : 0; i < WB_GUEST_CONTENDED; i++)
        (void)wb_word_add(&page->contended, 1, WB_RELAXED);
    wb_word_store(&page->count, 2, WB_RELEASE);
}

static int in_guest(struct wb_task *self)
{
    (void)self;
    return 0;
}

static void run_kernels(struct wb_guest *page, const char *kind, uint32_t start)
{
    struct wb_system *system = page->system;

    for (uint32_t i = 0; strcmp(kind, "empty") != 0 && i < system->n_tasks; i++)
        system->programs[page->program].entries[i] = in_guest;
    for (uint32_t i = 0; i < GUEST_CORES; i++)
        wb_word_store(&system->cores[page->core[i]]->state, WB_CORE_UP, WB_SEQ_CST);
    wb_word_store(&page->state, WB_GUEST_UP, WB_SEQ_CST);
    if (strcmp(kind, "dies") == 0 || (start == 1 && strstr(kind, "once") != NULL))
        (void)raise(SIGKILL);
    if (strcmp(kind, "asserts") == 0) {
        while (wb_word_load(&system->cores[0]->state, WB_SEQ_CST) != WB_CORE_UP)
            usleep(1000);
        snprintf(page->error, sizeof page->error, "an assertion has failed");
        wb_word_store(&page->state, WB_GUEST_FAILED, WB_RELEASE);
        _exit(2);
    }
    while (wb_word_load(&system->live, WB_SEQ_CST) != 0 || strcmp(kind, "stays") == 0)
        usleep(1000);
    for (uint32_t i = 0; i < GUEST_CORES; i++)
        wb_word_store(&system->cores[page->core[i]]->state, WB_CORE_STOPPED, WB_SEQ_CST);
    wb_word_store(&page->state, WB_GUEST_OVER, WB_SEQ_CST);
}

// The end of the page is nobody's, and is not cleared.
static uint32_t *starts(struct wb_guest *page)
{
    return (uint32_t *)(void *)((unsigned char *)page + WB_GUEST_PAGE_BYTES) - 1;
}

static _Noreturn void be_guest(const char *kind, int line)
{
    struct wb_guest *page = NULL;

    // One of nobody and one of this machine's core; of the guest's its two.
    if (map_memory(line, &page) != 2 + GUEST_CORES || page == NULL ||
        page->magic != WB_GUEST_MAGIC || strcmp(kind, "ends") == 0)
        _exit(3);
    const uint32_t start = ++*starts(page);
    if (strcmp(kind, "crashes") == 0)
        abort();
    if (strcmp(kind, "fails") == 0 || (strcmp(kind, "boots once") == 0 && start > 1)) {
        snprintf(page->error, sizeof page->error, "there is no interrupt controller");
        wb_word_store(&page->state, WB_GUEST_FAILED, WB_RELEASE);
        pause();
    }
    page->layout = wb_layout() + (strcmp(kind, "layout") == 0);
    snprintf(page->plan, sizeof page->plan, "%s", strcmp(kind, "plan") == 0 ? "other" : PLAN_HASH);
    page->cores = strcmp(kind, "small") == 0 ? 1 : GUEST_CORES;
    wb_word_store(&page->state, WB_GUEST_READY, WB_RELEASE);
    if (strcmp(kind, "hangs") == 0 || (strcmp(kind, "hangs again") == 0 && start > 1))
        for (;;)
            continue;
    if (strcmp(kind, "has no processor") == 0)
        usleep(2500000);
    answer(page, strcmp(kind, "loses") == 0);
    while (wb_word_load(&page->state, WB_ACQUIRE) != WB_GUEST_GO)
        usleep(100);
    run_kernels(page, kind, start);
    _exit(0);
}

static __attribute__((constructor)) void become_guest(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--guest") == 0)
        be_guest(argv[2], line_of(argc, argv));
}

// ---- Its launcher -------------------------------------------------------------------------------

static struct wb_host *lx;
static struct wb_task *task;
static uint32_t restarts;
static uint64_t guests_bytes;

static uint32_t most_restarts;

enum { UNTIL_UP, UNTIL_DEAD, UNTIL_UP_AGAIN };  // the index of the task that waits

// Until the guest's kernels are up, or have gone for good: after all of their starts.
static int waits(struct wb_task *self)
{
    const uint32_t until = wb_task_index(self);
    struct wb_core *core = self->system->cores[1];
    const uint32_t wanted = until == UNTIL_DEAD ? WB_CORE_DEAD : WB_CORE_UP;
    const uint32_t boots[] = { [UNTIL_DEAD] = most_restarts + 1, [UNTIL_UP_AGAIN] = 2 };

    while (wb_word_load(&core->state, WB_SEQ_CST) != wanted ||
           *starts(wb_guest_page(guests_bytes, 0)) < boots[until])
        wb_sleep_until(wb_now_ns() + 1000000);
    return 0;
}

static void open_with(const char *command, const char *kind, uint32_t index)
{
    static const uint32_t guest[CORES] = { 0, 1, 1 };
    static unsigned int cpus[CORES] = { 0, 0, 1 };
    static const char *words[3];
    static const struct plan_guest guests[] = {
        { .name = "fake", .command = words, .n_command = 3, .cores = GUEST_CORES }
    };

    words[0] = command, words[1] = "--guest", words[2] = kind;
    cpus[0] = (unsigned int)sched_getcpu();
    CHECK(wb_host_open(&lx, &(struct wb_host_config){ .system = { .cores = CORES, .tasks = 2 },
                                                      .memory_bytes = 1 << 20,
                                                      .stacks_bytes = STACK_BYTES,
                                                      .cpus = cpus,
                                                      .guests = guests,
                                                      .n_guests = 1,
                                                      .guest = guest,
                                                      .restarts = restarts,
                                                      .plan_hash = PLAN_HASH }) == WB_OK);
    guests_bytes = wb_host_gvm_bytes(lx);
    CHECK(wb_task_add(wb_host_system(lx),
                      &(struct wb_task_config){ .name = "waits",
                                                .index = index,
                                                .entry = waits,
                                                .priority = 8,
                                                .stack = wb_host_stack(lx, STACK_BYTES),
                                                .stack_bytes = STACK_BYTES,
                                                .heap_bytes = 4096 },
                      &task) == WB_OK);
}

#define SELF "/proc/self/exe"

static void start_with(const char *kind, uint32_t index)
{
    uint32_t bad_core;

    open_with(SELF, kind, index);
    CHECK(wb_host_start(lx, &bad_core) == WB_OK);
}

static void expect_refusal(const char *command, const char *kind, const char *text)
{
    uint32_t bad_core = WB_CORE_NONE;

    open_with(command, kind, 0);
    CHECK(wb_host_start(lx, &bad_core) == WB_ERR_INVAL && bad_core == 1);
    if (strstr(wb_host_start_error(lx), text) == NULL)
        puts(wb_host_start_error(lx));
    CHECK(strstr(wb_host_start_error(lx), text) != NULL);
    wb_host_close(lx);
}

TEST(kernels_of_two_programs_are_one_system)
{
    start_with("works", 0);
    CHECK(wb_host_gvm_bytes(lx) % (1 << 20) == 0);
    CHECK(wb_host_pid(lx, 1) != 0 && wb_host_pid(lx, 1) == wb_host_pid(lx, 2));
    CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_ENDED);
    wb_host_close(lx);
}

TEST(its_clock_is_that_of_the_system)
{
    start_with("works", 0);
    // Both read CLOCK_MONOTONIC, the launcher's from when it was opened.
    const struct wb_guest *page = wb_guest_page(wb_host_gvm_bytes(lx), 0);
    const int64_t before_ns = (int64_t)page->now_ns + page->offset_ns;
    CHECK(before_ns > 0 && before_ns < (int64_t)wb_kernel_now_ns());
    CHECK((int64_t)wb_kernel_now_ns() - before_ns < 60000000000);
    CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_ENDED);
    wb_host_close(lx);
}

TEST(the_death_of_an_emulator_is_that_of_each_of_its_kernels)
{
    start_with("dies", 1);
    const pid_t pid = wb_host_pid(lx, 1);
    for (uint32_t core = 1; core < CORES; core++) {
        const struct wb_host_event death = wb_host_wait(lx, LIMIT_MS);
        CHECK(death.kind == WB_HOST_DIED && death.core == core && death.signal == SIGKILL);
        CHECK(death.pid == pid);
    }
    CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_ENDED);
    wb_host_close(lx);
}

TEST(a_guest_that_fails_in_the_run_ends_it_and_says_why)
{
    start_with("asserts", 1);
    CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_FAULT);
    CHECK(strcmp(wb_host_system(lx)->fault.text, "fake: an assertion has failed") == 0);
    wb_host_close(lx);
}

TEST(a_guest_that_does_not_end_with_its_last_task_is_ended)
{
    struct wb_host_event event;

    start_with("stays", 0);
    do
        event = wb_host_wait(lx, LIMIT_MS);
    while (event.kind == WB_HOST_DIED);
    CHECK(event.kind == WB_HOST_ENDED);
    wb_host_close(lx);
}

// ---- Starting again -----------------------------------------------------------------------------

static void start_again_with(const char *kind, uint32_t index, uint32_t most)
{
    restarts = most_restarts = most;
    start_with(kind, index);
    restarts = 0;
}

static struct wb_host_event expect(enum wb_host_event_kind kind, uint32_t core)
{
    const struct wb_host_event event = wb_host_wait(lx, LIMIT_MS);

    CHECK(event.kind == kind && (event.kind == WB_HOST_ENDED || event.core == core));
    return event;
}

TEST(an_emulator_that_was_killed_is_started_again)
{
    start_again_with("dies once", UNTIL_UP_AGAIN, 1);
    const pid_t pid = wb_host_pid(lx, 1);
    for (uint32_t core = 1; core < CORES; core++)
        CHECK(expect(WB_HOST_DIED, core).returns);
    for (uint32_t core = 1; core < CORES; core++) {
        const struct wb_host_event event = expect(WB_HOST_RESTARTED, core);
        CHECK(event.took_ns != 0 && event.pid != pid && event.pid == wb_host_pid(lx, core));
    }
    expect(WB_HOST_ENDED, 0);
    wb_host_close(lx);
}

TEST(it_is_started_again_as_often_as_was_said)
{
    start_again_with("dies", UNTIL_DEAD, 2);
    for (uint32_t death = 1; death <= 3; death++)
        for (uint32_t core = 1; core < CORES; core++) {
            struct wb_host_event event = wb_host_wait(lx, LIMIT_MS);
            while (event.kind == WB_HOST_RESTARTED)
                event = wb_host_wait(lx, LIMIT_MS);
            CHECK(event.kind == WB_HOST_DIED && event.core == core && event.returns == (death < 3));
        }
    expect(WB_HOST_ENDED, 0);
    wb_host_close(lx);
}

TEST(one_that_does_not_boot_again_says_why)
{
    start_again_with("boots once", UNTIL_DEAD, 1);
    for (uint32_t core = 1; core < CORES; core++)
        CHECK(expect(WB_HOST_DIED, core).why == NULL);
    for (uint32_t core = 1; core < CORES; core++) {
        const struct wb_host_event event = expect(WB_HOST_DIED, core);
        CHECK(!event.returns && strstr(event.why, "there is no interrupt controller") != NULL);
    }
    expect(WB_HOST_ENDED, 0);
    wb_host_close(lx);
}

TEST(it_is_started_again_when_that_is_asked)
{
    const char *why;

    start_with("works", UNTIL_UP_AGAIN);
    CHECK(wb_host_restart(lx, CORES, &why) == WB_ERR_INVAL);
    CHECK(wb_host_restart(lx, 2, &why) == WB_OK);
    for (uint32_t core = 1; core < CORES; core++)
        CHECK(expect(WB_HOST_DIED, core).returns);
    CHECK(wb_host_restart(lx, 1, &why) == WB_ERR_BUSY);
    for (uint32_t core = 1; core < CORES; core++)
        expect(WB_HOST_RESTARTED, core);
    expect(WB_HOST_ENDED, 0);
    CHECK(wb_host_restart(lx, 1, &why) == WB_ERR_GONE);
    wb_host_close(lx);
}

TEST(one_that_has_gone_for_good_comes_back_when_that_is_asked)
{
    const char *why;

    start_with("dies once", UNTIL_UP_AGAIN);
    for (uint32_t core = 1; core < CORES; core++)
        CHECK(!expect(WB_HOST_DIED, core).returns);
    CHECK(wb_host_restart(lx, 1, &why) == WB_OK);
    for (uint32_t core = 1; core < CORES; core++)
        expect(WB_HOST_RESTARTED, core);
    expect(WB_HOST_ENDED, 0);
    wb_host_close(lx);
}

TEST(a_run_can_be_ended_while_one_is_started_again)
{
    start_again_with("hangs again", UNTIL_UP_AGAIN, 1);
    CHECK(wb_host_wait(lx, 100).kind == WB_HOST_NOTHING);
    kill(wb_host_pid(lx, 1), SIGKILL);
    for (uint32_t core = 1; core < CORES; core++)
        expect(WB_HOST_DIED, core);
    CHECK(wb_host_wait(lx, 100).kind == WB_HOST_NOTHING);
    wb_host_close(lx);
}

// ---- What is wrong ------------------------------------------------------------------------------

TEST(an_emulator_that_is_missing_is_named)
{
    expect_refusal("/nowhere/emulator", "", "/nowhere/emulator cannot be started: No such file");
}

TEST(an_emulator_that_ends_says_how)
{
    expect_refusal(SELF, "ends", "ended with status 3 before its program is ready");
    expect_refusal(SELF, "crashes", "ended by signal 6 before its program is ready");
}

TEST(a_guest_says_itself_why_it_cannot_take_part)
{
    expect_refusal(SELF, "fails", "there is no interrupt controller");
}

TEST(an_image_of_another_build_or_plan_is_refused)
{
    expect_refusal(SELF, "layout", "of another build");
    expect_refusal(SELF, "plan", "of another plan");
}

TEST(a_machine_with_too_few_cores_is_refused)
{
    expect_refusal(SELF, "small", "has 1 cores, and the plan has core 1");
}

TEST(a_guest_that_hangs_is_noticed)
{
    expect_refusal(SELF, "hangs", "its clock does not answer");
}

TEST(a_guest_that_has_no_processor_for_long_does_not_hang)
{
    start_with("has no processor", 0);
    CHECK(wb_host_wait(lx, LIMIT_MS).kind == WB_HOST_ENDED);
    wb_host_close(lx);
}

TEST(atomics_that_lose_additions_are_noticed)
{
    expect_refusal(SELF, "loses", "5 were lost");
}

TEST(a_task_that_the_image_lacks_is_named)
{
    uint32_t bad_core;

    open_with(SELF, "empty", 0);
    CHECK(wb_task_add(wb_host_system(lx),
                      &(struct wb_task_config){ .name = "there",
                                                .entry = waits,
                                                .core = 1,
                                                .priority = 8,
                                                .stack = task->stack,
                                                .stack_bytes = STACK_BYTES,
                                                .heap_bytes = 4096 },
                      &task) == WB_OK);
    CHECK(wb_host_start(lx, &bad_core) == WB_ERR_INVAL);
    CHECK(strstr(wb_host_start_error(lx), "no function of the task there") != NULL);
    wb_host_close(lx);
}

// ---- What tasks keep that are re-entered --------------------------------------------------------

static const char constant[] = "of this program";

static int moves(struct wb_task *self)
{
    const char **kept = wb_task_state(self);
    const uint32_t what = wb_task_index(self);

    if (kept != NULL)
        return 0;
    kept = wb_malloc(sizeof *kept);
    *kept = what == 1 ? constant : what == 2 ? (const char *)&kept : (const char *)kept;
    wb_task_set_state(self, (void *)kept);
    return wb_migrate(self, 1, WB_FOREVER) == WB_OK;
}

// Returns what is wrong with it; "": nothing.
static const char *keep(uint32_t what)
{
    static char text[WB_ERROR_BYTES];
    static unsigned int cpus[2];
    uint32_t bad_core;

    cpus[0] = cpus[1] = (unsigned int)sched_getcpu();
    CHECK(wb_host_open(&lx, &(struct wb_host_config){ .system = { .cores = 2, .tasks = 1 },
                                                      .memory_bytes = 1 << 20,
                                                      .stacks_bytes = STACK_BYTES,
                                                      .cpus = cpus }) == WB_OK);
    CHECK(wb_task_add(wb_host_system(lx),
                      &(struct wb_task_config){ .name = "moves",
                                                .index = what,
                                                .entry = moves,
                                                .priority = 8,
                                                .migratable = true,
                                                .mode = WB_REENTER,
                                                .stack = wb_host_stack(lx, STACK_BYTES),
                                                .stack_bytes = STACK_BYTES,
                                                .heap_bytes = 4096 },
                      &task) == WB_OK);
    CHECK(wb_host_start(lx, &bad_core) == WB_OK);
    const enum wb_host_event_kind kind = wb_host_wait(lx, LIMIT_MS).kind;
    CHECK(kind == WB_HOST_ENDED || kind == WB_HOST_FAULT);
    snprintf(text, sizeof text, "%s", wb_host_system(lx)->fault.text);
    wb_host_close(lx);
    return text;
}

TEST(what_a_task_keeps_that_is_of_one_program_is_found_if_that_is_wanted)
{
    CHECK(keep(1)[0] == '\0');
    setenv("WHIMBREL_CHECK_STATE", "1", 1);
    CHECK(strstr(keep(1), "has an address of this program, 16 bytes into its heap") != NULL);
    CHECK(strstr(keep(2), "has an address of its stack") != NULL);
    CHECK(keep(0)[0] == '\0');  // of its own heap, which goes nowhere
    unsetenv("WHIMBREL_CHECK_STATE");
}
