// SPDX-License-Identifier: Apache-2.0
#include "line.h"

#include <errno.h>

#include "board.h"
#include "link.h"
#include "supervisor.h"

#define UNOPENED_NS 5000000000ull

static struct link the_link;

void line_write_plainly(const char *from, size_t bytes)
{
    for (size_t sent = 0; sent < bytes;) {
        const size_t n = board_line_write(from + sent, bytes - sent);
        if (n == 0)
            supervisor_yield();
        sent += n;
    }
}

// What has come is looked at, and answered.
static void turn(void)
{
    const uint64_t now_ns = board_now_ns();
    char bytes[LINK_FRAME_BYTES];
    size_t n;

    the_link.put = line_write_plainly;
    while ((n = board_line_read(bytes, sizeof bytes)) != 0)
        link_take(&the_link, bytes, n, now_ns);
    link_tick(&the_link, now_ns);
}

int line_read(void *to, size_t bytes)
{
    turn();
    const size_t n = link_read(&the_link, to, bytes);
    if (n != 0)
        return (int)n;
    errno = EAGAIN;
    return -1;
}

int line_write(const char *from, size_t bytes)
{
    the_link.put = line_write_plainly;
    for (size_t sent = 0; sent < bytes;) {
        const size_t n = link_write(&the_link, from + sent, bytes - sent, board_now_ns());
        sent += n;
        if (sent == bytes)
            break;
        turn();
        supervisor_yield();
    }
    supervisor_share();
    return (int)bytes;
}

size_t line_room(void)
{
    const size_t ours = link_room(&the_link), its = board_line_room();

    return ours < its ? ours : its;
}

// A command that has spoken is waited for as long as it takes, or until it counts as gone
// (link_tick()); one that has not, for a while. Asleep where that is possible: an emulator's line
// has to wait for a core that never does.
void line_drain(bool may_sleep)
{
    const uint64_t end_ns = board_now_ns() + UNOPENED_NS;

    while (!link_is_done(&the_link) && (the_link.session != 0 || board_now_ns() < end_ns)) {
        turn();
        if (may_sleep)
            board_pause((uint32_t)(board_timeslice_ns() / 1000));
        else
            board_relax();
    }
}

bool line_is_replaced(void)
{
    return the_link.replaced;
}

bool line_has_old_command(void)
{
    const bool old = the_link.old_command;

    the_link.old_command = false;
    return old;
}
