// SPDX-License-Identifier: Apache-2.0
// A descriptor of the loop's own is made readable before each turn, so that its waiting ends at
// once; the handler of that takes the mark off and ends the loop. What else is readable by then
// is handled in the same turn, and the timers after it.
#include "turn.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rtc.h"

static void end(int flags, void *arg)
{
    const struct turn *turn = arg;
    uint64_t marks;

    (void)flags;
    if (read(turn->stop, &marks, sizeof marks) == sizeof marks)
        re_cancel();
}

bool turn_open(struct turn *turn)
{
    turn->stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (turn->stop < 0)
        return false;
    errno = fd_listen(turn->stop, FD_READ, end, turn);
    return errno == 0;
}

bool turn_take(struct turn *turn)
{
    const uint64_t mark = 1;

    if (write(turn->stop, &mark, sizeof mark) != sizeof mark)
        return false;
    errno = re_main(NULL);
    return errno == 0;
}

void turn_close(struct turn *turn)
{
    fd_close(turn->stop);
    close(turn->stop);
}
