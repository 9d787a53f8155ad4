// SPDX-License-Identifier: Apache-2.0
// The beginning of a program that hosts one task: it finds the system that it belongs to.
//
//   PROGRAM FD BYTES ADDRESS     started by a kernel (host.c), and of no use by hand

#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "hosted.h"

static bool map_shared(void *at, size_t bytes, int fd, off_t from, int fixed)
{
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | fixed, fd, from) ==
           at;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const int fd = (int)strtol(argv[1], NULL, 10);
    const size_t bytes = strtoull(argv[2], NULL, 10);
    struct hosted *hosted = (void *)(uintptr_t)strtoull(argv[3], NULL, 10);

    // It ends with its kernel, however that ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!map_shared(GVM_BASE, bytes, fd, 0, MAP_FIXED_NOREPLACE))
        return 1;
    if (hosted->layout != hosted_layout())
        return HOSTED_STALE;
    // Its kernel may be killed before it comes to note this; then the launcher has to reap us.
    wb_word_store(&hosted->pid, getpid(), WB_SEQ_CST);
    if (getppid() != hosted->kernel_pid ||
        !map_shared(&wb_kernel_need_resched, PAGE_BYTES, fd,
                    (unsigned char *)hosted->core - GVM_BASE, MAP_FIXED))
        return 1;
    close(fd);
    robust_mark(&hosted->robust_node, &hosted->turn);
    hosted_run(hosted);
}
