// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "count.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"
#include "layout.h"

// Most plans need less beyond their system and their heaps. One that needs more is laid out again,
// in MORE times the memory.
enum { SCRATCH_BYTES = 64 << 20, MORE = 4 };

static size_t first_bytes(const struct plan *plan)
{
    const struct wb_system_config config = plan_system(plan);
    size_t bytes = wb_system_bytes(&config) + SCRATCH_BYTES;

    for (uint32_t i = 0; i < plan->n_tasks; i++)
        bytes += plan->tasks[i].config.heap_bytes;
    return bytes;
}

// A file in memory is sparse, and Linux counts only its pages that are written, whatever
// vm.overcommit_memory says. NULL: Linux has no room for its addresses.
static void *map_scratch(size_t bytes)
{
    const int fd = memfd_create("whimbrel-scratch", MFD_CLOEXEC);
    void *scratch = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        scratch = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (fd >= 0)
        close(fd);
    return scratch != MAP_FAILED ? scratch : NULL;
}

bool count_memory(const struct plan *plan, size_t *bytes, struct plan_error *error)
{
    const size_t recreated_bytes = wb_host_recreated_bytes(plan->n_cores);
    size_t scratch_bytes = first_bytes(plan);
    bool counted = false, is_small = true;
    void *scratch;

    *error = (struct plan_error){ .kind = "memory",
                                  .task = "",
                                  .key = "",
                                  .text = "its heaps need more addresses than Linux has left",
                                  .core = WB_CORE_NONE };
    while (is_small && (scratch = map_scratch(scratch_bytes)) != NULL) {
        counted = layout_count(scratch, scratch_bytes, plan, recreated_bytes, bytes, error);
        is_small = !counted && strcmp(error->kind, "memory") == 0;
        munmap(scratch, scratch_bytes);
        scratch_bytes *= MORE;
    }
    return counted;
}
