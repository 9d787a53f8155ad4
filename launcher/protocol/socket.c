// SPDX-License-Identifier: Apache-2.0
// How the helpers that are processes of Linux are spoken to: by file descriptor 3.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>

#include "helper.h"

bool helper_listen(struct helper *h)
{
    FILE *out = fdopen(fcntl(HELPER_SOCKET, F_DUPFD_CLOEXEC, HELPER_SOCKET), "w");

    if (out == NULL)
        return false;
    fcntl(HELPER_SOCKET, F_SETFD, FD_CLOEXEC);
    helper_open(h, out, recorder_open_files);
    h->build.launcher_fds[0] = HELPER_SOCKET;
    h->build.launcher_fds[1] = fileno(out);
    // A session of its own: the terminal's Ctrl-C is the command's to interpret, and autogroup
    // gives the kernels their own share of the processors.
    setsid();
    // By lines, also into a file: a kernel that is killed has lost no line of its tasks.
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    return true;
}
