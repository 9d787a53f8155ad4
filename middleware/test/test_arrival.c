// SPDX-License-Identifier: Apache-2.0
// Sporadic releases and release jitter against what their distributions say. Bounds are five
// standard deviations of what is estimated.
// with: check.c build.c kernel_stub.c
#include <math.h>
#include <string.h>

#include "check.h"
#include "kernel_stub.h"

enum { JOBS = 1 << 14, PERIOD = 1000000 };
#define SIGMAS 5.0

struct jobs {
    double released[JOBS], began[JOBS];  // nanoseconds since the start
};

// A task without work: each of its jobs ends when it begins.
static struct jobs *run(uint64_t gap_ns, uint64_t jitter_ns, uint64_t seed)
{
    static struct jobs jobs;
    struct wb_task *task;

    stub_system(1);
    stub.system->config.seed = seed;
    task = stub_task("task", 0);
    task->period_ns = task->relative_deadline_ns = PERIOD;
    task->arrival.gap_ns = gap_ns;
    task->arrival.jitter_ns = jitter_ns;
    stub.now_ns = 0;
    stub_start(stub.system);
    stub_run(task);
    for (int i = 0; i < JOBS; i++) {
        CHECK(wb_period_wait(task));
        jobs.released[i] = (double)task->release.ns;
        jobs.began[i] = (double)wb_now_ns();
    }
    CHECK(wb_counter_get(&task->stats.misses) == 0);
    return &jobs;
}

TEST(sporadic_jobs_are_a_period_apart_and_exponentially_more)
{
    const double gap = 250000;
    const struct jobs *jobs = run((uint64_t)gap, 0, 1);
    double sum = 0, squares = 0;

    for (int i = 1; i < JOBS; i++) {
        const double beyond = jobs->released[i] - jobs->released[i - 1] - PERIOD;

        CHECK(beyond >= 0 && jobs->began[i] == jobs->released[i]);
        sum += beyond;
        squares += beyond * beyond;
    }
    const double n = JOBS - 1, mean = sum / n;

    CHECK(fabs(mean - gap) < SIGMAS * gap / sqrt(n));
    // The square of an exponential draw has the mean 2 and the variance 20, in squared means.
    CHECK(fabs(squares / n / (gap * gap) - 2) < SIGMAS * sqrt(20 / n));
}

TEST(jitter_delays_jobs_evenly_and_their_releases_never)
{
    const double most = 400001;
    const struct jobs *jobs = run(0, (uint64_t)most, 1);
    double sum = 0, least = most, longest = 0;

    for (int i = 0; i < JOBS; i++) {
        const double late = jobs->began[i] - jobs->released[i];

        CHECK(jobs->released[i] == (double)(i + 1) * PERIOD);
        CHECK(late >= 0 && late <= most);
        sum += late;
        least = fmin(least, late);
        longest = fmax(longest, late);
    }
    CHECK(fabs(sum / JOBS - most / 2) < SIGMAS * most / sqrt(12.0 * JOBS));
    CHECK(least < most / 1000 && longest > most * 0.999);
}

TEST(draws_are_those_of_the_seed)
{
    const struct jobs first = *run(1000, 1000, 1);

    CHECK(memcmp(&first, run(1000, 1000, 1), sizeof first) == 0);
    CHECK(memcmp(&first, run(1000, 1000, 2), sizeof first) != 0);
}
