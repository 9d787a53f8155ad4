// SPDX-License-Identifier: Apache-2.0
// gossip: each core for itself gives a task to a neighbour; there is no coordinator.
//
//   neighbours of core i:  i ± 1, i ± 2, i ± 4, … on the ring of cores, those that are up
//   m = the least loaded neighbour of the core that asks, c
//   give the task t of c with the greatest relief (pick.h), one per period, if
//     load(c) - load(m) > threshold_ppm and here(t) >= settle_ms
//     c is the most loaded neighbour of m
//
// A core to which no task of the other may go, because of its kind, is no neighbour of it.
//
// Of several equal cores the first one counts. Distances that double let load reach any core in as
// many steps as the number of cores has binary digits, while a core looks at few others.
//
// The last condition pairs the cores: whoever decides from the same snapshot sees the same giver
// for each taker, so a core gives at most one task and takes at most one. Along a chain of giving
// cores each is left with less than its giver had, so the highest load of the chain falls, and
// cores that decide at once do not go in circles. When their snapshots differ, settle_ms keeps a
// task from being passed on at once.
//
// Source: acquaviva2008, section 4.2, names it as the alternative that scales: "using [...] the
// Mosix algorithm [...] slave daemons can trigger migrations without [...] a centralized
// coordination". Barak and La'adan, The MOSIX multicomputer operating system for high performance
// cluster computing, 1998, let nodes tell random others their load; a ring instead needs no
// randomness. Pairing: Ghosh and Muthukrishnan, Dynamic load balancing by random matchings, 1996.
#include "pick.h"

enum { THRESHOLD_PPM, SETTLE_MS };

// The least loaded, or the most loaded, neighbour of a core; n_cores: it has none.
static uint32_t neighbour(const struct wb_snapshot *s, uint32_t core, bool most_loaded)
{
    uint32_t best = s->n_cores;

    for (uint32_t step = 1; step < s->n_cores; step *= 2) {
        const uint32_t around[] = { (core + step) % s->n_cores,
                                    (core + s->n_cores - step) % s->n_cores };
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t other = around[i];
            const uint32_t giver = most_loaded ? other : core, taker = most_loaded ? core : other;
            if (!s->cores[other].up || !wb_pick_any_runs_on(s, giver, taker))
                continue;
            const uint32_t load = s->cores[other].load_ppm;
            const uint32_t known = best == s->n_cores ? 0 : s->cores[best].load_ppm;
            const bool better = most_loaded ? load > known : load < known;
            if (best == s->n_cores || better || (load == known && other < best))
                best = other;
        }
    }
    return best;
}

static void decide_gossip(const struct wb_snapshot *s, const int64_t *params, struct wb_decision *d)
{
    if (s->self >= s->n_cores || !s->cores[s->self].up)
        return;
    const uint32_t to = neighbour(s, s->self, false);
    if (to == s->n_cores || neighbour(s, to, true) != s->self)
        return;
    const uint64_t from_ppm = s->cores[s->self].load_ppm, to_ppm = s->cores[to].load_ppm;
    struct wb_pick best = { 0 };

    if (from_ppm <= to_ppm + (uint64_t)params[THRESHOLD_PPM])
        return;
    for (uint32_t task = 0; task < s->n_tasks; task++) {
        const struct wb_snapshot_task *t = &s->tasks[task];
        const uint64_t relief = wb_pick_relief_ppm(t->load_ppm, from_ppm, to_ppm);
        if (t->core == s->self && t->movable && relief > best.worth &&
            wb_pick_runs_on(s, task, to) && t->here_ns >= (uint64_t)params[SETTLE_MS] * 1000000)
            best = (struct wb_pick){ .task = task, .worth = relief };
    }
    if (best.worth > 0)
        wb_decide_move(d, best.task, to);
}

const struct wb_policy wb_policy_gossip = {
    .name = "gossip",
    .help = "each core gives tasks to less loaded neighbours, without a coordinator",
    .local = true,
    .n_params = 2,
    .params =
        (const struct wb_policy_param[]){
            { "threshold_ppm", "loads that differ by no more than this are even", 100000, 0,
              WB_PPM },
            { "settle_ms", "how long a task stays on a core at least", 100, 0, 3600000 },
        },
    .decide = decide_gossip,
};
