// SPDX-License-Identifier: Apache-2.0
// Preloaded into a run: each kernel that has handed KILLER_AFTER messages to clients is killed when
// the last of them is in the client's socket, and before its slot is given back. The file
// KILLER_LOG has one byte for each, and there are no more than KILLER_KILLS.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? atoi(text) : 0;
}

static void die(void)
{
    const char *path = getenv("KILLER_LOG");
    const int log = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    if (log < 0 || lseek(log, 0, SEEK_END) >= number("KILLER_KILLS") || write(log, "x", 1) != 1)
        return;
    (void)kill(getpid(), SIGKILL);
}

ssize_t sendmsg(int fd, const struct msghdr *packet, int flags)
{
    static int sent;
    const ssize_t n = syscall(SYS_sendmsg, fd, packet, flags);

    if (n > 0 && ++sent == number("KILLER_AFTER"))
        die();
    return n;
}
