// SPDX-License-Identifier: Apache-2.0
// The first line: what may differ from run to run of one image.

#include <stdlib.h>
#include <string.h>

#include "launcher.h"
#include "line.h"
#include "supervisor.h"

enum { LINE_BYTES = 8 << 10 };  // the longest that is taken

// A command that knows no checksums takes lines as they are.
static void refuse_old_command(void)
{
    static const char error[] =
        "{\"error\":{\"kind\":\"line\",\"task\":\"\",\"index\":0,\"core\":null,\"key\":\"\","
        "\"text\":\"this image sends checksums: take the whimbrel that built it\"}}\n";

    if (line_has_old_command())
        line_write_plainly(error, sizeof error - 1);
}

static char *await_line(struct helper *h, size_t *bytes)
{
    for (;;) {
        char *line = lines_next(&h->lines, bytes);
        if (line != NULL)
            return line;
        supervisor_yield();
        refuse_old_command();
        lines_read(&h->lines);
        if (h->lines.closed)
            lines_forget(&h->lines);
    }
}

// Whatever else is on the line is passed over: it may have begun in the midst of one.
static bool is_start(const char *line)
{
    return strncmp(line, "{\"start\":", 9) == 0;
}

static const struct plan_param *find_param(const struct plan_start *start, const char *key)
{
    for (uint32_t i = 0; i < start->n_params; i++)
        if (strcmp(start->params[i].key, key) == 0)
            return &start->params[i];
    return NULL;
}

// The first that the plan does not have, or that comes twice.
static const char *unknown(const struct plan *plan, const struct plan_start *start)
{
    for (uint32_t i = 0; i < start->n_params; i++) {
        bool known = false;
        for (uint32_t j = 0; j < plan->n_params; j++)
            known |= strcmp(plan->params[j].key, start->params[i].key) == 0;
        if (!known || find_param(start, start->params[i].key) != &start->params[i])
            return start->params[i].key;
    }
    return "";
}

// Those of the plan, each in its place, or the one given instead.
static bool set_params(struct helper *h, const struct plan_start *start)
{
    struct plan *plan = &h->plan;
    struct plan_param *params = calloc(plan->n_params + 1, sizeof *params);
    uint32_t taken = 0;

    if (params == NULL) {
        helper_report_error(h, "memory", "", "there is none for the parameters");
        return false;
    }
    for (uint32_t i = 0; i < plan->n_params; i++) {
        const struct plan_param *given = find_param(start, plan->params[i].key);
        params[i] = given != NULL ? *given : plan->params[i];
        taken += given != NULL;
    }
    plan->params = params;
    if (taken == start->n_params)
        return true;
    helper_report_error(h, "plan", unknown(&wb_board_plan, start),
                        "the plan of the image has no parameter of this name");
    return false;
}

static bool apply(struct helper *h, const struct plan_start *start)
{
    h->plan = wb_board_plan;
    h->plan.record = start->record ? "" : NULL;
    if (start->rate_millihz != 0)
        h->plan.rate_millihz = start->rate_millihz;
    if (start->policy.name != NULL)
        h->plan.policy = start->policy;
    return set_params(h, start);
}

bool launcher_await_start(struct helper *h, struct plan_start *start)
{
    struct parse_error error;
    size_t bytes;
    char *line;

    h->lines.most = LINE_BYTES;
    do
        line = await_line(h, &bytes);
    while (!is_start(line));
    h->plan_memory = yyjson_alc_dyn_new();
    if (!parse_start(h->plan_memory, line, bytes, start, &error)) {
        helper_report_error(h, "plan", error.key, error.text);
        return false;
    }
    if (strcmp(start->plan, wb_board_plan_hash) != 0) {
        helper_report_error(h, "image", wb_board_plan_hash, "the image is of another plan");
        return false;
    }
    return apply(h, start);
}
