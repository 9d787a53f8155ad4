// SPDX-License-Identifier: Apache-2.0
// The lines of the plan that say what tasks compute.

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum { FIELDS = 13 };  // words of a `work` line before its cycles

static bool take_compute(struct plan_work_lines *works, const struct words *w)
{
    if (w->count != 2)
        return false;
    works->models_compute = strcmp(w->word[1], "model") == 0;
    return works->models_compute || strcmp(w->word[1], "real") == 0;
}

static bool take_distribution(enum wb_distribution *distribution, const char *word)
{
    static const char *const words[] = { "constant", "uniform", "normal", "exponential" };

    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0) {
            *distribution = (enum wb_distribution)i;
            return true;
        }
    return false;
}

static bool take_pair(const struct words *w, uint32_t at, const char *name, uint64_t *value)
{
    return strcmp(w->word[at], name) == 0 && words_number(w->word[at + 1], value);
}

// work NAME INDEX distribution D spread PPM working BYTES traffic BYTES firings N cycles N [N …]
static bool take_work(struct plan_work_lines *works, const struct words *w)
{
    uint64_t index, spread, working, traffic, firings;
    enum wb_distribution distribution;

    if (w->count <= FIELDS + 1 || w->count > FIELDS + 1 + WB_KINDS_MAX ||
        !words_number(w->word[2], &index) || strcmp(w->word[3], "distribution") != 0 ||
        !take_distribution(&distribution, w->word[4]) || !take_pair(w, 5, "spread", &spread) ||
        !take_pair(w, 7, "working", &working) || !take_pair(w, 9, "traffic", &traffic) ||
        !take_pair(w, 11, "firings", &firings) || strcmp(w->word[FIELDS], "cycles") != 0 ||
        index > UINT32_MAX || spread > UINT32_MAX ||
        !plan_grow(&works->all, works->n, sizeof *works->all))
        return false;
    struct plan_work *work = &works->all[works->n++];
    *work = (struct plan_work){ .task = strdup(w->word[1]),
                                .index = (uint32_t)index,
                                .cycles = calloc(w->count, sizeof *work->cycles),
                                .config = { .distribution = distribution,
                                            .spread_ppm = (uint32_t)spread,
                                            .working_bytes = working,
                                            .traffic_bytes = traffic,
                                            .firings = firings,
                                            .n_cycles = w->count - FIELDS - 1 } };
    work->config.cycles = work->cycles;
    if (work->task == NULL || work->cycles == NULL)
        return false;
    for (uint32_t i = 0; i < work->config.n_cycles; i++)
        if (!words_number(w->word[FIELDS + 1 + i], &work->cycles[i]))
            return false;
    return true;
}

bool plan_take_work(struct plan *plan, const struct words *w, bool *known)
{
    const char *verb = w->word[0];

    if (strcmp(verb, "compute") == 0)
        return take_compute(&plan->works, w);
    if (strcmp(verb, "seed") == 0)
        return w->count == 2 && words_number(w->word[1], &plan->works.seed);
    if (strcmp(verb, "work") == 0)
        return take_work(&plan->works, w);
    *known = false;
    return false;
}

uint32_t plan_kinds(const struct plan *plan)
{
    uint32_t kinds = 1;

    for (uint32_t i = 0; i < plan->n_cpus; i++)
        if (plan->kinds[i] >= kinds)
            kinds = plan->kinds[i] + 1;
    return kinds;
}

size_t plan_work_bytes(const struct plan *plan)
{
    return plan->works.n * (size_t)plan_kinds(plan) * sizeof(uint64_t) + WB_LINE_BYTES;
}

void plan_work_free(struct plan_work_lines *works)
{
    for (uint32_t i = 0; i < works->n; i++) {
        free(works->all[i].task);
        free(works->all[i].cycles);
    }
    free(works->all);
}
