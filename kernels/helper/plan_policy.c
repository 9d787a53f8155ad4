// SPDX-License-Identifier: Apache-2.0
// The lines of the plan that say who decides on moves.

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum { AGENTS_LEAST_NS = 100000 };  // more often, and they would do nothing else

static bool take_agents(struct plan_policy *policy, const struct words *w)
{
    return w->count == 2 && words_number(w->word[1], &policy->agents_ns) &&
           (policy->agents_ns == 0 || policy->agents_ns >= AGENTS_LEAST_NS) &&
           policy->agents_ns <= INT64_MAX;
}

static bool take_small(uint32_t *number, const struct words *w)
{
    uint64_t value;

    if (w->count != 2 || !words_number(w->word[1], &value) || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    return true;
}

// policy NAME [KEY=VALUE …]
static bool take_policy(struct plan_policy *policy, const struct words *w)
{
    if (w->count < 2 || w->word[1][0] == '\0' || policy->name != NULL)
        return false;
    policy->name = strdup(w->word[1]);
    policy->params = calloc(w->count, sizeof *policy->params);
    if (policy->name == NULL || policy->params == NULL)
        return false;
    for (uint32_t i = 2; i < w->count; i++) {
        policy->params[policy->n_params] = strdup(w->word[i]);
        if (policy->params[policy->n_params++] == NULL)
            return false;
    }
    return true;
}

// row MILLIHZ POINT… CORE…
static bool take_row(struct plan_policy *policy, const struct words *w)
{
    uint64_t value;

    if (w->count < 2)
        return false;
    struct plan_row *grown = reallocarray(policy->rows, policy->n_rows + 1, sizeof *policy->rows);
    if (grown == NULL)
        return false;
    policy->rows = grown;
    struct plan_row *row = &policy->rows[policy->n_rows];
    *row = (struct plan_row){ .numbers = calloc(w->count, sizeof *row->numbers) };
    policy->n_rows++;
    if (row->numbers == NULL || !words_number(w->word[1], &row->rate_millihz))
        return false;
    for (uint32_t i = 2; i < w->count; i++) {
        if (!words_number(w->word[i], &value) || value > UINT32_MAX)
            return false;
        row->numbers[row->n_numbers++] = (uint32_t)value;
    }
    return true;
}

bool plan_take_policy(struct plan *plan, const struct words *w, bool *known)
{
    const char *verb = w->word[0];

    if (strcmp(verb, "agents") == 0)
        return take_agents(&plan->policy, w);
    if (strcmp(verb, "coordinator") == 0)
        return take_small(&plan->policy.coordinator, w);
    if (strcmp(verb, "rate") == 0)
        return take_small(&plan->policy.rate_millihz, w);
    if (strcmp(verb, "policy") == 0)
        return take_policy(&plan->policy, w);
    if (strcmp(verb, "row") == 0)
        return take_row(&plan->policy, w);
    *known = false;
    return false;
}

// Cores and tasks may come after the rows, so these are looked at when all of them are there.
bool plan_policy_fits(const struct plan *plan)
{
    const struct plan_policy *policy = &plan->policy;

    for (uint32_t i = 0; i < policy->n_rows; i++) {
        const struct plan_row *row = &policy->rows[i];
        if (row->n_numbers != plan->n_cpus + plan->n_tasks ||
            (i != 0 && row->rate_millihz <= policy->rows[i - 1].rate_millihz))
            return false;
        for (uint32_t t = plan->n_cpus; t < row->n_numbers; t++)
            if (row->numbers[t] >= plan->n_cpus)
                return false;
    }
    return policy->coordinator < plan->n_cpus;
}

size_t plan_policy_bytes(const struct plan *plan)
{
    const size_t numbers = (size_t)plan->n_cpus + plan->n_tasks;

    return plan->policy.n_rows * (sizeof(struct wb_table_row) + numbers * sizeof(uint32_t)) +
           WB_LINE_BYTES;
}

void plan_policy_free(struct plan_policy *policy)
{
    for (uint32_t i = 0; i < policy->n_params; i++)
        free(policy->params[i]);
    for (uint32_t i = 0; i < policy->n_rows; i++)
        free(policy->rows[i].numbers);
    free(policy->params);
    free(policy->rows);
    free(policy->name);
}
