// SPDX-License-Identifier: Apache-2.0
// Finds policies by name or position, and reads their parameters.
#include "../../word/mem.h"
#include "wb/policy.h"

#define WB_POLICY(name) extern const struct wb_policy wb_policy_##name;
#include "all.h"
#undef WB_POLICY
// Boards link the middleware from an archive and go without: their cores have one point each.
#pragma weak wb_policy_leakage

#define WB_POLICY(name) &wb_policy_##name,
static const struct wb_policy *const policies[] = {
#include "all.h"
};
#undef WB_POLICY

enum { POLICIES = sizeof policies / sizeof *policies };

const struct wb_policy *wb_policy_at(uint32_t position)
{
    for (uint32_t i = 0; i < POLICIES; i++) {
        if (policies[i] != NULL && position-- == 0)
            return policies[i];
    }
    return NULL;
}

const struct wb_policy *wb_policy_find(const char *name)
{
    for (uint32_t i = 0; i < POLICIES; i++) {
        if (policies[i] != NULL && wb_text_equal(policies[i]->name, name))
            return policies[i];
    }
    return NULL;
}

void wb_policy_defaults(const struct wb_policy *policy, int64_t *values)
{
    for (uint32_t i = 0; i < policy->n_params; i++)
        values[i] = policy->params[i].value;
}

// Counts downwards: there is one more negative number than there are positive ones.
static bool number(const char *text, int64_t *value)
{
    const bool negative = *text == '-';
    int64_t below = 0;

    if (negative)
        text++;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        const int64_t digit = *text - '0';
        if (digit < 0 || digit > 9 || below < INT64_MIN / 10 || 10 * below < INT64_MIN + digit)
            return false;
        below = below * 10 - digit;
    }
    if (!negative && below == INT64_MIN)
        return false;
    *value = negative ? below : -below;
    return true;
}

enum wb_status wb_policy_param_set(const struct wb_policy *policy, int64_t *values, const char *key,
                                   const char *text)
{
    int64_t value;

    if (!number(text, &value))
        return WB_ERR_INVAL;
    for (uint32_t i = 0; i < policy->n_params; i++) {
        const struct wb_policy_param *param = &policy->params[i];
        if (!wb_text_equal(param->name, key))
            continue;
        if (value < param->least || value > param->most)
            return WB_ERR_INVAL;
        values[i] = value;
        return WB_OK;
    }
    return WB_ERR_INVAL;
}
