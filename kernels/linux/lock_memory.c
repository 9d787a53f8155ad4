// SPDX-License-Identifier: Apache-2.0
// Internal memory of channels: this machine has none that a program could choose. What it has is a
// cache, so their slots are kept in physical memory, are there from the start, and are no more than
// the cache of a core holds.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervise.h"

bool wb_host_lock_memory(struct wb_host *host, void *at, size_t bytes, char *why, size_t why_bytes)
{
    const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);

    host->pinned_bytes += bytes;
    if (cache > 0 && host->pinned_bytes > (size_t)cache) {
        snprintf(
            why, why_bytes,
            "with it, channels in internal memory take %zu bytes, and the cache of a core holds "
            "%ld: give it fewer or smaller slots, or leave `memory` out",
            host->pinned_bytes, cache);
        return false;
    }
    // Locks whole pages, and brings them in.
    if (mlock(at, bytes) == 0)
        return true;
    snprintf(why, why_bytes,
             "%zu bytes cannot be locked in memory (%s): raise the limit by `ulimit -l`, or leave "
             "`memory` out",
             bytes, strerror(errno));
    return false;
}
