// SPDX-License-Identifier: Apache-2.0
// Files that tasks wait for beside channels: sockets, timers, pipes. Those that are opened before
// the kernels are theirs all, so a task that waits may move.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "suite.h"

struct state {
    int socket[2];
    struct wb_word over;
    struct wb_swapped woken;
    uint32_t rounds;
};

static struct harness *open_cores(uint32_t cores)
{
    struct harness *h = suite_open(cores, sizeof(struct state));
    struct state *s = suite_state(h);

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s->socket) == 0);
    s->rounds = suite_count(3000);
    return h;
}

static void end(struct harness *h)
{
    const struct state *s = suite_state(h);

    close(s->socket[0]);
    close(s->socket[1]);
    harness_close(h);
}

static struct wb_task *add(struct harness *h, const char *name, uint32_t index, uint32_t core,
                           wb_task_entry *entry)
{
    return suite_task(
        h, &(struct wb_task_config){
               .name = name, .index = index, .core = core, .entry = entry, .migratable = true });
}

static void connect_by_channel(struct harness *h, struct wb_task *from, struct wb_task *to)
{
    suite_channel(h, &(struct wb_channel_config){ .name = "c", .slots = 2, .slot_bytes = 4 }, from,
                  to);
}

// ---- Beside a channel, while the task moves -----------------------------------------------------

static void put_in_socket(struct wb_task *self, const struct state *s, uint32_t number)
{
    struct wb_wait room = { .file = s->socket[0], .events = WB_FILE_WRITABLE };

    while (write(s->socket[0], &number, sizeof number) != sizeof number)
        EXPECT(self, wb_wait(&room, 1, WB_FOREVER) == 0);
}

// Numbers that go over one way or the other, after a pause about as long as a kernel polls.
static int sender(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    uint32_t random = 3, sent[2] = { 0 };

    for (uint32_t i = 0; i < s->rounds; i++) {
        const uint32_t way = suite_random(&random) % 2;
        if (way == 0)
            put_in_socket(self, s, sent[0]++);
        else
            EXPECT(self, wb_port_send(out, &sent[1], WB_FOREVER) == WB_OK && ++sent[1] != 0);
        suite_compute(suite_random(&random) % 60000);
        wb_checkpoint();
    }
    put_in_socket(self, s, UINT32_MAX);
    return 0;
}

static bool take_from_socket(struct wb_task *self, int socket, uint32_t *expected)
{
    uint32_t number;

    EXPECT(self, read(socket, &number, sizeof number) == sizeof number);
    EXPECT(self, number == UINT32_MAX || number == (*expected)++);
    return number != UINT32_MAX;
}

static int receiver(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_wait set[] = { { .port = wb_port_find_any(self, "in", 0) },
                             { .file = s->socket[1], .events = WB_FILE_READABLE } };
    uint32_t got[2] = { 0 }, n = 2, number;

    while (n != 0) {
        // The last of both that is left is the first of the set.
        const int first = wb_wait(set, n, WB_FOREVER);
        EXPECT(self, first >= 0 && (uint32_t)first < n);
        if (set[first].port == NULL) {
            if (!take_from_socket(self, set[first].file, &got[0]))
                set[first] = set[--n];
        } else {
            const enum wb_status status = wb_port_receive(set[first].port, &number, 0);
            EXPECT(self, status == WB_ERR_GONE || (status == WB_OK && number == got[1]++));
            if (status == WB_ERR_GONE)
                set[first] = set[--n];
        }
        wb_checkpoint();
    }
    EXPECT(self, got[0] + got[1] == s->rounds);
    wb_word_store(&s->over, 1, WB_SEQ_CST);
    return 0;
}

static int mover(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    uint32_t random = 7;

    while (wb_word_load(&s->over, WB_SEQ_CST) == 0) {
        suite_move_anywhere(self, &self->system->tasks[suite_random(&random) % 2], &random);
        wb_sleep_until(wb_now_ns() + 50000);
    }
    return 0;
}

TEST(a_task_that_waits_for_a_socket_and_a_channel_misses_nothing_while_both_ends_move)
{
    struct harness *h = open_cores(3);
    struct wb_task *from = add(h, "sender", 0, 0, sender);

    connect_by_channel(h, from, add(h, "receiver", 0, 1, receiver));
    add(h, "mover", 0, 2, mover);
    suite_run(h);
    end(h);
}

// ---- Other tasks of the kernel ------------------------------------------------------------------

static int await_socket(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_wait set = { .file = s->socket[1], .events = WB_FILE_READABLE };

    EXPECT(self, wb_wait(&set, 1, WB_FOREVER) == 0);
    wb_word_add(&s->woken, 1, WB_SEQ_CST);
    return 0;
}

static int busy(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < 20; i++) {
        EXPECT(self, wb_word_load(&s->woken, WB_SEQ_CST) == 0);
        suite_compute(50000);
        wb_sleep_until(wb_now_ns() + 50000);
    }
    EXPECT(self, write(s->socket[0], &(uint32_t){ 1 }, 4) == 4);
    // Who waits is more urgent, and comes to run at a checkpoint.
    while (wb_word_load(&s->woken, WB_SEQ_CST) != 2)
        wb_checkpoint();
    return 0;
}

TEST(all_tasks_of_a_kernel_that_wait_for_a_file_are_woken_while_another_computes)
{
    struct harness *h = open_cores(1);

    add(h, "waiter", 0, 0, await_socket);
    add(h, "waiter", 1, 0, await_socket);
    suite_task(h, &(struct wb_task_config){
                      .name = "busy", .priority = SUITE_PRIORITY - 1, .entry = busy });
    suite_run(h);
    end(h);
}

// ---- Kinds of files -----------------------------------------------------------------------------

static int expect(struct wb_task *self, int file, uint32_t events, uint64_t timeout_ns)
{
    struct wb_wait set[] = { { .port = wb_port_find_any(self, "in", 0) },
                             { .file = file, .events = events } };

    EXPECT(self, set[0].port != NULL);
    return wb_wait(set, 2, timeout_ns);
}

static void look_at_timer(struct wb_task *self)
{
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const struct itimerspec in_a_moment = { .it_value.tv_nsec = 3000000 };
    uint64_t rings = 0;

    EXPECT(self, expect(self, timer, WB_FILE_READABLE, 1000000) == WB_ERR_TIMEOUT);
    const uint64_t begin_ns = wb_now_ns();
    EXPECT(self, timerfd_settime(timer, 0, &in_a_moment, NULL) == 0);
    EXPECT(self, expect(self, timer, WB_FILE_READABLE, WB_FOREVER) == 1);
    EXPECT(self, wb_now_ns() - begin_ns >= 2900000);
    EXPECT(self, read(timer, &rings, sizeof rings) == sizeof rings && rings == 1);
    EXPECT(self, expect(self, timer, WB_FILE_READABLE, 0) == WB_ERR_EMPTY);
    close(timer);
}

static void look_at_ends(struct wb_task *self)
{
    int ends[2];

    EXPECT(self, pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
    EXPECT(self, expect(self, ends[0], WB_FILE_READABLE, 0) == WB_ERR_EMPTY);
    EXPECT(self, expect(self, ends[1], WB_FILE_READABLE | WB_FILE_WRITABLE, 0) == 1);
    close(ends[1]);
    EXPECT(self, expect(self, ends[0], WB_FILE_READABLE, WB_FOREVER) == 1);
    close(ends[0]);
    // No file any more: its call says so.
    EXPECT(self, expect(self, ends[0], WB_FILE_READABLE, WB_FOREVER) == 1);
}

static void look_at_plain(struct wb_task *self)
{
    const int plain = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    EXPECT(self, plain >= 0 && expect(self, plain, WB_FILE_READABLE, WB_FOREVER) == 1);
    close(plain);
}

static int looker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    look_at_timer(self);
    look_at_ends(self);
    look_at_plain(self);
    wb_word_store(&s->over, 1, WB_SEQ_CST);
    return 0;
}

static int mute(struct wb_task *self)
{
    const struct state *s = suite_shared(self);

    while (wb_word_load(&s->over, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 100000);
    return 0;
}

TEST(timers_pipes_and_plain_files_are_waited_for_and_what_is_no_file_is_ready)
{
    struct harness *h = open_cores(2);

    connect_by_channel(h, add(h, "mute", 0, 0, mute), add(h, "looker", 0, 1, looker));
    suite_run(h);
    end(h);
}

// ---- Signals ------------------------------------------------------------------------------------

static void on_signal(int number)
{
    (void)number;
}

// It polls for all of its time, interrupted more often than it looks at the clock.
static int interrupted(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    const struct itimerval often = { { .tv_usec = 200 }, { .tv_usec = 200 } };
    struct wb_wait set = { .file = s->socket[1], .events = WB_FILE_READABLE };

    EXPECT(self, signal(SIGALRM, on_signal) != SIG_ERR);
    EXPECT(self, setitimer(ITIMER_REAL, &often, NULL) == 0);
    EXPECT(self, wb_wait(&set, 1, 200000000) == WB_ERR_TIMEOUT);
    EXPECT(self, setitimer(ITIMER_REAL, &(struct itimerval){ { 0 }, { 0 } }, NULL) == 0);
    return 0;
}

TEST(a_signal_makes_no_file_ready)
{
    struct harness *h = suite_open_with(
        &(struct harness_config){ .cores = 1, .poll_ns = WB_FOREVER }, sizeof(struct state));
    struct state *s = suite_state(h);

    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s->socket) == 0);
    add(h, "interrupted", 0, 0, interrupted);
    suite_run(h);
    end(h);
}

// ---- Deaths -------------------------------------------------------------------------------------

static int lasting(struct wb_task *self)
{
    const struct state *s = suite_shared(self);

    while (!wb_stopping(self))
        wb_sleep_until(wb_now_ns() + 100000);
    EXPECT(self, write(s->socket[0], &(uint32_t){ 1 }, 4) == 4);
    return 0;
}

TEST(a_task_that_waits_for_a_file_on_a_killed_kernel_goes_on_elsewhere)
{
    struct harness *h = open_cores(2);
    const struct state *s = suite_state(h);
    struct wb_task *task = add(h, "waiter", 0, 1, await_socket);

    add(h, "lasting", 0, 0, lasting);
    harness_start(h);
    suite_wait_for_state(h, task, WB_TASK_BLOCKED);
    if (!suite_kill(h, 1))
        return;
    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(wb_word_load(&s->woken, WB_SEQ_CST) == 1);
    end(h);
}
