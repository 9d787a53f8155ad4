// SPDX-License-Identifier: Apache-2.0
// The lines of the plan that only a simulation has.

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "plan.h"

// at NS EVERY_NS VERB …
static bool take_at(struct plan_sim *sim, const struct words *w)
{
    uint64_t at_ns, every_ns;

    if (w->count < 4 || !words_number(w->word[1], &at_ns) || !words_number(w->word[2], &every_ns) ||
        !plan_grow(&sim->commands, sim->n_commands, sizeof *sim->commands))
        return false;
    struct plan_at *at = &sim->commands[sim->n_commands++];
    *at = (struct plan_at){ .at_ns = at_ns,
                            .every_ns = every_ns,
                            .words = { .word = calloc(w->count, sizeof(char *)) } };
    if (at->words.word == NULL)
        return false;
    for (uint32_t i = 3; i < w->count; i++) {
        char *word = strdup(w->word[i]);
        if (word == NULL)
            return false;
        at->words.word[at->words.count++] = word;
    }
    return true;
}

bool plan_take_sim(struct plan_sim *sim, const struct words *w, bool *known)
{
    const char *verb = w->word[0];

    if (strcmp(verb, "platform") == 0) {
        if (w->count != 2 || sim->platform != NULL)
            return false;
        sim->platform = strdup(w->word[1]);
        return sim->platform != NULL;
    }
    if (strcmp(verb, "at") == 0)
        return take_at(sim, w);
    if (strcmp(verb, "restore") == 0) {
        if (w->count != 3 || sim->restore != NULL)
            return false;
        sim->restore = strdup(w->word[1]);
        sim->restore_id = strdup(w->word[2]);
        return sim->restore != NULL && sim->restore_id != NULL;
    }
    if (strcmp(verb, "limit") == 0)
        return w->count == 3 && words_number(w->word[1], &sim->until_ns) &&
               words_number(w->word[2], &sim->events);
    *known = false;
    return false;
}

void plan_sim_free(struct plan_sim *sim)
{
    for (uint32_t i = 0; i < sim->n_commands; i++) {
        for (uint32_t j = 0; j < sim->commands[i].words.count; j++)
            free(sim->commands[i].words.word[j]);
        free(sim->commands[i].words.word);
    }
    free(sim->commands);
    free(sim->platform);
    free(sim->restore);
    free(sim->restore_id);
}
