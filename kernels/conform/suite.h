// SPDX-License-Identifier: Apache-2.0
// What the cases share: laying out a small system, running it, failing inside a task.
#ifndef WB_SUITE_H
#define WB_SUITE_H

#include "check.h"
#include "harness.h"
#include "wb/launcher.h"
#include "wb/wb.h"

enum {
    SUITE_PRIORITY = 8,  // of a task that does not say
    SUITE_LIMIT_MS = 60000,
};

/// Fails the run from inside a task, as CHECK does outside.
#define EXPECT(self, cond)                                                                         \
    do {                                                                                           \
        if (!(cond))                                                                               \
            suite_fail(self, __FILE__, __LINE__, #cond);                                           \
    } while (0)

/// The `cores` of tasks that may move by hand-off, as wb_task_config has them, where a case gives
/// none; 0: none either.
extern uint32_t suite_cores;

_Noreturn void suite_fail(struct wb_task *self, const char *file, int line, const char *what);

/// A system of `cores` cores with zeroed shared memory of `bytes`, as suite_shared() finds it.
struct harness *suite_open(uint32_t cores, size_t bytes);
struct harness *suite_open_with(const struct harness_config *config, size_t bytes);

/// The memory that the case and all of its tasks share: from outside, and from a task.
void *suite_state(struct harness *h);
void *suite_shared(const struct wb_task *self);

/// Adds a task with a stack. Priority 0 and heap_bytes 0 stand for ordinary values.
struct wb_task *suite_task(struct harness *h, const struct wb_task_config *config);

/// A channel between two tasks, at their ports `out` and `in`, index 0.
struct wb_channel *suite_channel(struct harness *h, const struct wb_channel_config *config,
                                 struct wb_task *from, struct wb_task *to);

/// One more sender for a mailbox.
void suite_sender(struct wb_channel *mailbox, struct wb_task *from);

/// Prints where every task is and what every channel holds.
void suite_describe(struct harness *h);

/// Waits until every task is over. A fault, a death or a hang ends the program and says who did
/// what.
void suite_wait(struct harness *h);

/// suite_wait() from start to end.
void suite_run(struct harness *h);

/// Supervises for a moment. Anything that happens ends the program.
void suite_go_on(struct harness *h);

/// Supervises until `word` is `value`. Anything else that happens first ends the program.
void suite_wait_for(struct harness *h, const struct wb_word *word, uint32_t value);

/// Supervises until a task is in `state`.
void suite_wait_for_state(struct harness *h, const struct wb_task *task, enum wb_task_state state);

/// Kills a kernel and waits until its tasks have been taken over. Ends the test, as skipped, where
/// that is impossible: false.
bool suite_kill(struct harness *h, uint32_t core);

/// `n` times CONFORM_SCALE, at least 8.
uint32_t suite_count(uint32_t n);

/// The next of a sequence of numbers that look random; `*state` starts at anything but 0.
uint32_t suite_random(uint32_t *state);

/// One turn of a loop that waits for a word in memory. No checkpoint.
void suite_relax(void);

/// Computes, without a checkpoint, for so long.
void suite_compute(uint64_t ns);

/// Moves another task, which holds nothing, to any core, if it lets itself be moved.
void suite_move_anywhere(struct wb_task *self, struct wb_task *task, uint32_t *random);

/// A policy that moves the first task to the next core that is up.
extern const struct wb_policy suite_onwards;

/// A message of a stream of numbers: with the sum of all up to it.
struct suite_sum {
    uint32_t number, sum;
};

/// What has come at the end of such a stream.
struct suite_end {
    struct wb_word received, over;
};

/// Receives such a stream to its end: each message once, in order, with its sum.
void suite_receive_sums(struct wb_task *self, struct suite_end *end);

/// Moves the calling task to the next core; fails the run unless that is where it ends up.
void suite_hop(struct wb_task *self);

#endif
