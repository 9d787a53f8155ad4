// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "thread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

bool fm_ring_make(struct fm_ring *ring, uint32_t sample_bytes, uint64_t capacity)
{
    ring->sample_bytes = sample_bytes;
    ring->capacity = capacity;
    ring->fd = memfd_create("fm_radio", MFD_CLOEXEC);
    if (ring->fd < 0)
        return false;
    // Its memory is there from the start, so that no write fails.
    const int error = posix_fallocate(ring->fd, 0, (off_t)(capacity * sample_bytes));
    if (error == 0)
        return true;
    close(ring->fd);
    errno = error;
    return false;
}

bool fm_thread_start(pthread_t *thread, void *(*run)(void *), void *state)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    errno = pthread_create(thread, NULL, run, state);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errno == 0;
}

void fm_thread_pause(void)
{
    const struct timespec pause = { .tv_nsec = FM_THREAD_PAUSE_MS * 1000000 };

    nanosleep(&pause, NULL);
}
