// SPDX-License-Identifier: Apache-2.0
// Private memory: an anonymous file per kernel, mapped at the same address in each ("mirrored"
// memory, holmbacka2013 section III), for tasks that are replicated.
//
// Every kernel also maps the files of the others, elsewhere: a migration copies once, straight from
// one private memory into the other (joint_copy.c). The files outlive their kernel as long as
// anybody maps them, so what a killed kernel left can still be fetched.

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "private.h"

#define PRIVATE_BASE ((unsigned char *)0x300000000000)
#define ALIAS_BASE ((unsigned char *)0x380000000000)
#define ALIAS_END ((unsigned char *)0x7f0000000000)

enum { HUGE_PAGE_BYTES = 2 << 20 };

// For wb_kernel_private() and private_mapping_contains(), in every kernel.
static size_t private_mapping_bytes;

static bool map(unsigned char *at, size_t bytes, int protection, int flags, int fd, size_t offset)
{
    return mmap(at, bytes, protection, MAP_SHARED | MAP_NORESERVE | flags, fd, (off_t)offset) == at;
}

// A first touch of 1 MiB takes 0.5 ms by pages of 4 KiB, and 0.04 by a large one. Linux uses those
// where /sys/kernel/mm/transparent_hugepage/shmem_enabled is `advise`. Parts that are smaller than
// one would become as large.
static bool map_part(unsigned char *at, size_t bytes, int flags, int fd, size_t offset)
{
    if (!map(at, bytes, PROT_READ | PROT_WRITE, flags, fd, offset))
        return false;
    if (bytes >= HUGE_PAGE_BYTES)
        (void)madvise(at, bytes, MADV_HUGEPAGE);
    return true;
}

bool private_mapping_open(struct private_mapping *private_mapping, uint32_t cores, size_t bytes,
                          uint32_t parts)
{
    private_mapping_bytes = 0;
    if (bytes == 0)
        return true;
    private_mapping->bytes = whole_pages(bytes) + (size_t)parts * (GUARD_BYTES + PAGE_BYTES);
    private_mapping->fds = calloc(cores, sizeof *private_mapping->fds);
    private_mapping->parts = calloc(parts, sizeof *private_mapping->parts);
    private_mapping->room = parts;
    if (private_mapping->fds == NULL || private_mapping->parts == NULL)
        return false;
    if (private_mapping->bytes > (size_t)(ALIAS_BASE - PRIVATE_BASE) ||
        private_mapping->bytes > (size_t)(ALIAS_END - ALIAS_BASE) / cores) {
        errno = ENOMEM;
        return false;
    }
    for (; private_mapping->cores < cores; private_mapping->cores++) {
        const int fd = memfd_create("whimbrel-private", MFD_CLOEXEC);
        if (fd < 0)
            return false;
        private_mapping->fds[private_mapping->cores] = fd;
        if (ftruncate(fd, (off_t)private_mapping->bytes) != 0) {
            private_mapping->cores++;
            return false;
        }
    }
    private_mapping_bytes = private_mapping->bytes;
    // One shadow for all: where a task runs, its stack's red zones are those it left elsewhere.
    return sanitizer_share(PRIVATE_BASE, private_mapping->bytes);
}

void *private_mapping_take(struct private_mapping *private_mapping, uint32_t core, size_t bytes)
{
    const size_t at = private_mapping->used + GUARD_BYTES;

    bytes = whole_pages(bytes != 0 ? bytes : 1);
    if (private_mapping->n_parts == private_mapping->room || at + bytes > private_mapping->bytes ||
        !map_part(PRIVATE_BASE + at, bytes, MAP_FIXED_NOREPLACE, private_mapping->fds[core], at))
        return NULL;
    private_mapping->used = at + bytes;
    private_mapping->parts[private_mapping->n_parts++] =
        (struct private_mapping_part){ .at = at, .bytes = bytes, .core = core };
    return PRIVATE_BASE + at;
}

bool private_mapping_enter(struct private_mapping *private_mapping, uint32_t core)
{
    for (uint32_t i = 0; i < private_mapping->n_parts; i++) {
        const struct private_mapping_part *part = &private_mapping->parts[i];
        if (part->core != core && !map_part(PRIVATE_BASE + part->at, part->bytes, MAP_FIXED,
                                            private_mapping->fds[core], part->at))
            return false;
    }
    for (uint32_t i = 0; i < private_mapping->cores; i++) {
        if (!map(ALIAS_BASE + i * private_mapping->bytes, private_mapping->bytes,
                 PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE, private_mapping->fds[i], 0))
            return false;
        close(private_mapping->fds[i]);
    }
    return true;
}

bool private_mapping_contains(const void *address)
{
    const unsigned char *a = address;
    return a >= PRIVATE_BASE && a < PRIVATE_BASE + private_mapping_bytes;
}

void *private_mapping_alias(uint32_t core, const void *address)
{
    return ALIAS_BASE + core * private_mapping_bytes +
           ((const unsigned char *)address - PRIVATE_BASE);
}

uint32_t private_mapping_core(const void *alias)
{
    const unsigned char *a = alias;

    if (private_mapping_bytes == 0 || a < ALIAS_BASE ||
        a >= ALIAS_BASE + kernel_system()->n_cores * private_mapping_bytes)
        return WB_CORE_NONE;
    return (uint32_t)((size_t)(a - ALIAS_BASE) / private_mapping_bytes);
}

void private_mapping_close(struct private_mapping *private_mapping)
{
    for (uint32_t i = 0; i < private_mapping->n_parts; i++)
        munmap(PRIVATE_BASE + private_mapping->parts[i].at, private_mapping->parts[i].bytes);
    for (uint32_t i = 0; i < private_mapping->cores; i++)
        close(private_mapping->fds[i]);
    free(private_mapping->fds);
    free(private_mapping->parts);
}

// ---- The contract -------------------------------------------------------------------------------

// A task comes to a kernel with all of its private memory in reach.
enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    const enum wb_status status = stack_init(task);

    if (status == WB_OK)
        kernel_task(task)->sp = stack_first_context(task);
    return status;
}

bool wb_kernel_update(void *to, const void *from, size_t bytes)
{
    const bool differs = sanitizer_differs(to, from, bytes);

    if (differs)
        sanitizer_copy(to, from, bytes);
    return differs;
}

const void *wb_kernel_private(uint32_t core, const void *address)
{
    return private_mapping_contains(address) ? private_mapping_alias(core, address) : NULL;
}

void *wb_kernel_stack_low(const struct wb_task *task)
{
    const struct kernel_task *lt = (const struct kernel_task *)(const void *)task->kernel;
    return lt->sp;
}
