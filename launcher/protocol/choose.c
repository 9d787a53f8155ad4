// SPDX-License-Identifier: Apache-2.0
#include "choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout.h"

static const struct wb_policy *find_policy(struct wb_host *host, const char *name)
{
    const struct wb_policy *policy = wb_policy_find(name);
    char symbol[128];

    if (policy != NULL ||
        (size_t)snprintf(symbol, sizeof symbol, "wb_policy_%s", name) >= sizeof symbol)
        return policy;
    policy = wb_host_symbol(host, symbol);
    // What an application brings along has been checked by nobody.
    return policy != NULL && policy->name != NULL && policy->decide != NULL &&
                   policy->n_params <= WB_POLICY_PARAMS &&
                   (policy->n_params == 0 || policy->params != NULL)
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

// Says what is wrong with a KEY=VALUE that the policy does not take.
static void explain(const struct wb_policy *policy, const char *text, char *why, size_t bytes)
{
    const char *equals = strchr(text, '=');
    char key[64];

    if (equals == NULL || (size_t)(equals - text) >= sizeof key) {
        snprintf(why, bytes, "`%s` is not KEY=VALUE", text);
        return;
    }
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    const struct wb_policy_param *param = param_of(policy, key);
    if (param == NULL) {
        int used = snprintf(why, bytes, "the policy %s has no parameter `%s`%s", policy->name, key,
                            policy->n_params > 0 ? "; it has " : "");
        for (uint32_t i = 0; i < policy->n_params && used >= 0 && (size_t)used < bytes; i++)
            used += snprintf(why + used, bytes - (size_t)used, "%s%s", i > 0 ? ", " : "",
                             policy->params[i].name);
    } else {
        snprintf(why, bytes, "%s of the policy %s is a number from %" PRId64 " to %" PRId64, key,
                 policy->name, param->least, param->most);
    }
}

bool choose_policy(struct wb_host *host, const struct plan_policy *planned, char *why, size_t bytes)
{
    const struct wb_policy *policy = find_policy(host, planned->name);
    uint32_t bad;

    if (policy == NULL) {
        snprintf(why, bytes, "there is no policy of this name, here or in the module");
        return false;
    }
    const enum wb_status status = layout_policy(wb_host_system(host), policy, planned, &bad);
    if (status == WB_ERR_INVAL)
        explain(policy, planned->params[bad], why, bytes);
    else if (status != WB_OK)
        snprintf(why, bytes, "no policy can decide, because the agents do not report in this run");
    return status == WB_OK;
}
