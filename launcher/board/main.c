// SPDX-License-Identifier: Apache-2.0
#include "launcher.h"

#include <stdlib.h>

#include "board.h"
#include "board_host.h"
#include "line.h"
#include "supervisor.h"

// All cores see it; there is more room for it than in private memory.
static struct helper the_helper __attribute__((section(".gvm")));

FILE *launcher_line(void)
{
    return the_helper.teller.file;
}

static void open_helper(void)
{
    helper_open(&the_helper, fdopen(HELPER_SOCKET, "w"), launcher_record);
}

// Nobody can say what the launcher itself has damaged. A processor may fail before main().
void board_failed(uint32_t core, const char *task, const char *text)
{
    static bool again;

    (void)core;
    (void)task;
    if (!again) {
        again = true;
        if (launcher_line() == NULL)
            open_helper();
        helper_report_error(&the_helper, "kernel", "", text);
        line_drain(false);
    }
    _Exit(2);
}

// The line goes on, but what was said is lost.
static void look_at_line(struct helper *h)
{
    if (line_is_replaced())
        wb_host_kill(h->build.host);
    if (!h->lines.closed)
        return;
    helper_report_error(h, "line", "", "a line of the command is too long");
    lines_forget(&h->lines);
}

static void supervise(struct helper *h)
{
    while (!h->over) {
        const struct wb_host_event event = wb_host_wait(h->build.host, 0);
        helper_drain(h);
        helper_take_event(h, &event);
        helper_take_commands(h);
        look_at_line(h);
        if (!h->over)
            helper_look_for_deadlock(h);
        supervisor_yield();
    }
    helper_drain(h);
}

int main(void)
{
    struct helper *h = &the_helper;
    struct plan_start start;

    open_helper();
    h->share = supervisor_share;
    if (launcher_await_start(h, &start) && helper_build(h)) {
        if (start.watchdog_ms != 0)
            wb_host_watch(h->build.host, start.watchdog_ms);
        if (helper_start(h)) {
            supervise(h);
            helper_finish(h);
        }
        wb_host_close(h->build.host);
    }
    line_drain(true);
    return h->failed ? 2 : 0;
}
