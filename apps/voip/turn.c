// SPDX-License-Identifier: Apache-2.0
// A descriptor of the loop's own is made readable before each turn, so that its waiting ends at
// once; the handler of that takes the mark off and ends the loop. What else is readable by then
// is handled in the same turn, and the timers after it.
#include "turn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
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

// Libre tells nobody its epoll descriptor. It makes that when first it is to listen to another, so
// it gets the number that is free then.
static bool is_epoll(int file)
{
    char path[32], name[32] = "";

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return readlink(path, name, sizeof name - 1) > 0 && strstr(name, "eventpoll");
}

static int next_free(void)
{
    const int free = eventfd(0, EFD_CLOEXEC);

    close(free);
    return free;
}

bool turn_open(struct turn *turn)
{
    turn->nowhere = fopen("/dev/null", "we");
    turn->stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    turn->loop = next_free();
    if (!turn->nowhere || turn->stop < 0 || turn->loop < 0)
        return false;
    errno = poll_method_set(METHOD_EPOLL);
    if (errno == 0)
        errno = fd_listen(turn->stop, FD_READ, end, turn);
    if (errno == 0 && !is_epoll(turn->loop))
        errno = ENOSYS;
    return errno == 0;
}

// Libre writes what it thinks of strangers' messages to `stderr`, past its own levels: the variable
// is another file's meanwhile, and what the phone says goes by the descriptor.
bool turn_take(struct turn *turn)
{
    const uint64_t mark = 1;
    FILE *const terminal = stderr;

    if (write(turn->stop, &mark, sizeof mark) != sizeof mark)
        return false;
    stderr = turn->nowhere;
    errno = re_main(NULL);
    stderr = terminal;
    return errno == 0;
}

void turn_close(struct turn *turn)
{
    fd_close(turn->stop);
    close(turn->stop);
    fclose(turn->nowhere);
}
