// SPDX-License-Identifier: Apache-2.0
// Scripts whose tasks move, also where they wait, and are stopped anywhere.

#include "protocol.h"
#include "scripted.h"

enum { CORES = 3, TURNS = 25, MOVES = 20 };

static struct harness *open_scripts(void)
{
    struct harness *h = scripted_open(CORES, TURNS);

    protocol_mover(h, MOVES);
    return h;
}

// A turn that a kernel was stopped in may be counted twice, or not at all.
static const char *check(struct harness *h, const struct fault *fault)
{
    const uint32_t killed = protocol_kills(fault);

    for (uint32_t i = 0; i < SCRIPTED; i++) {
        const uint64_t turns = scripted_firings(h, i);
        if (turns + killed < TURNS || turns > TURNS + killed)
            return "a script has not made its turns";
    }
    return NULL;
}

TEST(scripts_of_tasks_that_move)
{
    protocol_inject(&(struct protocol){
        .open = open_scripts, .check = check, .cores = CORES, .migrations = 10 });
}
