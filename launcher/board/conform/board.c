// SPDX-License-Identifier: Apache-2.0
// The part of the harness that is the same on all boards: "outside" is where a launcher runs
// (supervisor.h).

#include <stdio.h>
#include <stdlib.h>

#include "board.h"
#include "board_host.h"
#include "check.h"
#include "harness.h"
#include "launcher.h"

// A core that is started again must have stopped before.
static void expect_all_to_wait(void)
{
    for (uint32_t i = 1; i < board_cores(); i++)
        if (!board_waits(i)) {
            fprintf(stderr, "conform: core %u has not booted: start all %u cores of the board\n",
                    (unsigned int)i, (unsigned int)board_cores());
            exit(2);
        }
}

// Cases keep interrupts away for as long as they like: no watchdog.
struct harness *harness_open(const struct harness_config *config)
{
    const uint64_t for_ever_ns = 3600000000000;

    if (config->cores > board_cores())
        wb_test_abandon("it wants more cores than this board has");
    expect_all_to_wait();
    struct harness *h = launcher_open(config, for_ever_ns, (struct wb_host_config){ .cpus = NULL });
    wb_host_watch(h->host, UINT32_MAX);
    return h;
}

bool harness_kill(struct harness *h, uint32_t core)
{
    wb_host_kill_core(h->host, core, "");
    return true;
}

bool harness_has_processes(void)
{
    return false;
}

bool harness_kill_program(struct harness *h, const struct wb_task *task)
{
    (void)h;
    (void)task;
    return false;
}

void harness_close(struct harness *h)
{
    wb_host_close(h->host);
    free(h);
}
