// SPDX-License-Identifier: Apache-2.0
// wb_decision_check(): drops what cannot be carried out, and says what it was.
#include "wb/policy.h"

struct text {
    char *at;
    size_t left;  // of `at`, the zero included
};

// What is wrong with one part: words, in which each # stands for the next number. NULL: nothing.
struct fault {
    const char *words;
    uint32_t numbers[3];
};

static void put_char(struct text *text, char c)
{
    if (text->left < 2)
        return;
    *text->at++ = c;
    *text->at = '\0';
    text->left--;
}

static void put_number(struct text *text, uint32_t value)
{
    if (value >= 10)
        put_number(text, value / 10);
    put_char(text, (char)('0' + value % 10));
}

static void say(struct text *text, const struct fault *fault, uint32_t said)
{
    const uint32_t *number = fault->numbers;

    if (said > 0) {
        put_char(text, ';');
        put_char(text, ' ');
    }
    for (const char *c = fault->words; *c != '\0'; c++) {
        if (*c == '#')
            put_number(text, *number++);
        else
            put_char(text, *c);
    }
}

static struct fault fault_of_move(const struct wb_decision *d, uint32_t kept,
                                  const struct wb_snapshot *s, const struct wb_policy *policy)
{
    const struct wb_move move = d->moves[kept];
    const uint32_t task = move.task, core = move.core;

    if (task >= s->n_tasks)
        return (struct fault){ "it moved task #, of which there are #", { task, s->n_tasks } };
    if (core >= s->n_cores)
        return (struct fault){ "it moved task # to core #, of which there are #",
                               { task, core, s->n_cores } };
    if (policy->local && s->tasks[task].core != s->self)
        return (struct fault){ "it moved task # of core #, but decides for core # only",
                               { task, s->tasks[task].core, s->self } };
    if (!s->cores[core].up)
        return (struct fault){ "it moved task # to core #, which is down", { task, core } };
    if (s->tasks[task].not_on >> s->cores[core].kind & 1)
        return (struct fault){ "it moved task # to core #, of a kind that it does not run on",
                               { task, core } };
    if (!s->tasks[task].movable)
        return (struct fault){ "it moved task #, which is not movable", { task } };
    for (uint32_t i = 0; i < kept; i++) {
        if (d->moves[i].task == task)
            return (struct fault){ "it moved task # twice", { task } };
    }
    return (struct fault){ 0 };
}

static struct fault fault_of_point(const struct wb_decision *d, uint32_t kept,
                                   const struct wb_snapshot *s, const struct wb_policy *policy)
{
    const uint32_t core = d->points[kept].core, point = d->points[kept].point;

    if (core >= s->n_cores)
        return (struct fault){ "it set the point of core #, of which there are #",
                               { core, s->n_cores } };
    if (policy->local && core != s->self)
        return (struct fault){ "it set the point of core #, but decides for core # only",
                               { core, s->self } };
    if (!s->cores[core].up)
        return (struct fault){ "it set the point of core #, which is down", { core } };
    if (point >= s->cores[core].n_points && point != WB_POINT_OFF)
        return (struct fault){ "it set core # to point #, of which there are #",
                               { core, point, s->cores[core].n_points } };
    for (uint32_t i = 0; i < kept; i++) {
        if (d->points[i].core == core)
            return (struct fault){ "it set the point of core # twice", { core } };
    }
    return (struct fault){ 0 };
}

uint32_t wb_decision_check(struct wb_decision *decision, const struct wb_snapshot *snapshot,
                           const struct wb_policy *policy, char *text, size_t bytes)
{
    struct text out = { .at = text, .left = bytes };
    uint32_t dropped = 0, kept = 0;

    if (bytes > 0)
        *text = '\0';
    for (uint32_t i = 0; i < decision->n_moves; i++) {
        decision->moves[kept] = decision->moves[i];
        const struct fault fault = fault_of_move(decision, kept, snapshot, policy);
        if (fault.words == NULL)
            kept++;
        else
            say(&out, &fault, dropped++);
    }
    decision->n_moves = kept;
    kept = 0;
    for (uint32_t i = 0; i < decision->n_points; i++) {
        decision->points[kept] = decision->points[i];
        const struct fault fault = fault_of_point(decision, kept, snapshot, policy);
        if (fault.words == NULL)
            kept++;
        else
            say(&out, &fault, dropped++);
    }
    decision->n_points = kept;
    if (decision->overflow) {
        const struct fault fault = { "it decided more than # moves or # points",
                                     { decision->max_moves, decision->max_points } };
        say(&out, &fault, dropped++);
    }
    return dropped;
}
