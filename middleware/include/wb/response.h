// SPDX-License-Identifier: Apache-2.0
// Response times: how long tasks take, from when they could until they had.
//
// A job of a periodic task responds from its release until its end (M. Joseph, P. Pandya: "Finding
// Response Times in a Real-Time System", The Computer Journal 29(5), 1986). A firing of any other
// task responds from when the last of the messages that it takes was there (its activation: K.
// Tindell, J. Clark: "Holistic schedulability analysis for distributed hard real-time systems",
// Microprocessing and Microprogramming 40, 1994) until it has sent what it sends; so what waits for
// the task's earlier firings waits on its account, as customers in a queue do. Messages of the
// start were there at the start. One without inputs could begin when the firing before it ended.
//
// Where a firing ends is known of jobs (wb_period_wait()) and of tasks that only fire (wb_fire()).
// Others have ended one when they come for a message of the next, and, if they only send, with the
// last message that they send in one. Mailboxes activate nobody: a task looks into one when it
// likes.
#ifndef WB_RESPONSE_H
#define WB_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

struct wb_bucket;
struct wb_task;

enum { WB_RESPONSES_FEW = 4 };

// Of one task; its own, and of the kernel that owns it. What every firing looks at comes first.
struct wb_response {
    // When the last message so far of this firing was there, of a source when the firing before it
    // ended, plus one; 0: none.
    uint64_t ready_ns;
    uint64_t run_ns, run_n;     // the latest, all alike, which the following do not count yet
    uint64_t fired;             // firings that ended
    bool is_source;             // fixed: it has no inputs
    bool spilled;               // some are in `buckets`
    struct wb_bucket *buckets;  // fixed
    uint64_t n, sum_ns, min_ns, max_ns;
    // Most tasks have few response times, and their buckets no memory that was ever touched.
    struct wb_response_few {
        uint32_t bucket;
        uint64_t n, sum_ns;
    } few[WB_RESPONSES_FEW];
};

struct wb_response_times {
    uint64_t n, min_ns, mean_ns, max_ns;  // exact
    uint64_t p50_ns, p99_ns;  // half of all were no longer, and 99 of 100; of those that are all
                              // alike exact, else right to a thirty-second part
};

/// The response times of a task.
///
/// Context: the launcher, once every kernel has ended. Never blocks.
/// Returns: false, with `times` unchanged, if none was measured.
bool wb_task_response(const struct wb_task *task, struct wb_response_times *times);

// A part of a histogram: so many were at least `from_ns` and less than `to_ns`.
struct wb_response_part {
    uint64_t from_ns, to_ns, n;
};

/// The next part of a task's histogram in which there is any, each an eighth of a power of two wide
/// (of short ones 4 ns). `*at`: 0 at first.
///
/// Context: as wb_task_response().
/// Returns: false after the last one.
bool wb_task_response_next(const struct wb_task *task, uint32_t *at, struct wb_response_part *part);

#endif
