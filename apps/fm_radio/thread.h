// SPDX-License-Identifier: Apache-2.0
// What the threads of the launcher have in common that serve devices.
#ifndef FM_THREAD_H
#define FM_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

enum { FM_THREAD_PAUSE_MS = 5 };

/// Makes the file of a ring.
///
/// Context: the launcher, before the kernels. May block.
/// Returns: false, with the reason in `errno`.
bool fm_ring_make(struct fm_ring *ring, uint32_t sample_bytes, uint64_t capacity);

/// Starts a thread that no signal is delivered to.
///
/// Context: the launcher.
/// Returns: false, with the reason in `errno`.
bool fm_thread_start(pthread_t *thread, void *(*run)(void *), void *state);

/// Sleeps for FM_THREAD_PAUSE_MS.
///
/// Context: such a thread.
void fm_thread_pause(void);

#endif
