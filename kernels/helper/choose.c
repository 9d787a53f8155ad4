// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "choose.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct wb_policy *find(void *module, const char *name)
{
    const struct wb_policy *policy = wb_policy_find(name);
    char symbol[128];

    if (policy != NULL || module == NULL ||
        (size_t)snprintf(symbol, sizeof symbol, "wb_policy_%s", name) >= sizeof symbol)
        return policy;
    policy = dlsym(module, symbol);
    // What an application brings along has been checked by nobody.
    return policy != NULL && policy->name != NULL && policy->decide != NULL &&
                   policy->n_params <= WB_POLICY_PARAMS
               ? policy
               : NULL;
}

static const struct wb_policy_param *param_of(const struct wb_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->n_params; i++)
        if (strcmp(policy->params[i].name, key) == 0)
            return &policy->params[i];
    return NULL;
}

static bool set_param(const struct wb_policy *policy, int64_t *values, const char *text, char *why,
                      size_t bytes)
{
    const char *equals = strchr(text, '=');
    char key[64];

    if (equals == NULL || (size_t)(equals - text) >= sizeof key) {
        snprintf(why, bytes, "`%s` is no KEY=VALUE", text);
        return false;
    }
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    if (wb_policy_param_set(policy, values, key, equals + 1) == WB_OK)
        return true;
    const struct wb_policy_param *param = param_of(policy, key);
    if (param == NULL)
        snprintf(why, bytes, "the policy %s has no parameter `%s`", policy->name, key);
    else
        snprintf(why, bytes, "%s of the policy %s is a number from %" PRId64 " to %" PRId64, key,
                 policy->name, param->least, param->most);
    return false;
}

bool choose_policy(struct wb_system *system, void *module, const char *name, char *const *params,
                   uint32_t n_params, char *why, size_t bytes)
{
    const struct wb_policy *policy = find(module, name);
    int64_t values[WB_POLICY_PARAMS] = { 0 };

    if (policy == NULL) {
        snprintf(why, bytes, "there is no policy of this name, here or in the module");
        return false;
    }
    wb_policy_defaults(policy, values);
    for (uint32_t i = 0; i < n_params; i++)
        if (!set_param(policy, values, params[i], why, bytes))
            return false;
    if (wb_system_set_policy(system, policy, values) == WB_OK)
        return true;
    snprintf(why, bytes, "no policy can decide, because the agents do not report in this run");
    return false;
}

static bool add_rows(struct wb_system *system, const struct plan *plan)
{
    const uint32_t n_rows = plan->policy.n_rows, n_cores = plan->n_cpus;
    struct wb_table_row *rows = wb_system_alloc(system, n_rows * sizeof *rows, sizeof(uint64_t));

    for (uint32_t i = 0; rows != NULL && i < n_rows; i++) {
        const struct plan_row *row = &plan->policy.rows[i];
        uint32_t *numbers =
            wb_system_alloc(system, row->n_numbers * sizeof *numbers, sizeof *numbers);
        if (numbers == NULL)
            return false;
        memcpy(numbers, row->numbers, row->n_numbers * sizeof *numbers);
        rows[i] = (struct wb_table_row){ .rate_millihz = row->rate_millihz,
                                         .points = numbers,
                                         .cores = numbers + n_cores };
    }
    system->control.rows = rows;
    system->control.n_rows = n_rows;
    return rows != NULL;
}

bool choose_planned(struct wb_system *system, void *module, const struct plan *plan, char *why,
                    size_t bytes)
{
    const struct plan_policy *policy = &plan->policy;

    wb_system_set_rate(system, policy->rate_millihz);
    if (!add_rows(system, plan)) {
        snprintf(why, bytes, "there is no room for the rows of its table");
        return false;
    }
    return policy->name == NULL || choose_policy(system, module, policy->name, policy->params,
                                                 policy->n_params, why, bytes);
}
