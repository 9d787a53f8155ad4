// SPDX-License-Identifier: Apache-2.0
// Private memory: an anonymous file per kernel, mapped at the same address in each ("mirrored"
// memory, holmbacka2013 section III), for tasks that are replicated.
//
// Every kernel also maps the files of the others, elsewhere and to read only: a migration copies
// once, straight from one private memory into the other. The files outlive their kernel as long as
// anybody maps them, so what a killed kernel left can still be fetched.

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "private.h"

#define MIRROR_BASE ((unsigned char *)0x300000000000)
#define ALIAS_BASE ((unsigned char *)0x380000000000)
#define ALIAS_END ((unsigned char *)0x7f0000000000)

// For wb_kernel_private() and mirror_contains(), in every kernel.
static size_t mirror_bytes;

static bool map(unsigned char *at, size_t bytes, int protection, int flags, int fd, size_t offset)
{
    return mmap(at, bytes, protection, MAP_SHARED | MAP_NORESERVE | flags, fd, (off_t)offset) == at;
}

bool mirror_open(struct mirror *mirror, uint32_t cores, size_t bytes, uint32_t parts)
{
    mirror_bytes = 0;
    if (bytes == 0)
        return true;
    mirror->bytes = whole_pages(bytes) + (size_t)parts * (GUARD_BYTES + PAGE_BYTES);
    mirror->fds = calloc(cores, sizeof *mirror->fds);
    mirror->parts = calloc(parts, sizeof *mirror->parts);
    mirror->room = parts;
    if (mirror->fds == NULL || mirror->parts == NULL)
        return false;
    if (mirror->bytes > (size_t)(ALIAS_BASE - MIRROR_BASE) ||
        mirror->bytes > (size_t)(ALIAS_END - ALIAS_BASE) / cores) {
        errno = ENOMEM;
        return false;
    }
    for (; mirror->cores < cores; mirror->cores++) {
        const int fd = memfd_create("whimbrel-private", MFD_CLOEXEC);
        if (fd < 0)
            return false;
        mirror->fds[mirror->cores] = fd;
        if (ftruncate(fd, (off_t)mirror->bytes) != 0) {
            mirror->cores++;
            return false;
        }
    }
    mirror_bytes = mirror->bytes;
    // One shadow for all: where a task runs, its stack's red zones are those it left elsewhere.
    return sanitizer_share(MIRROR_BASE, mirror->bytes);
}

void *mirror_take(struct mirror *mirror, uint32_t core, size_t bytes)
{
    const size_t at = mirror->used + GUARD_BYTES;

    bytes = whole_pages(bytes != 0 ? bytes : 1);
    if (mirror->n_parts == mirror->room || at + bytes > mirror->bytes ||
        !map(MIRROR_BASE + at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE,
             mirror->fds[core], at))
        return NULL;
    mirror->used = at + bytes;
    mirror->parts[mirror->n_parts++] =
        (struct mirror_part){ .at = at, .bytes = bytes, .core = core };
    return MIRROR_BASE + at;
}

bool mirror_enter(struct mirror *mirror, uint32_t core)
{
    for (uint32_t i = 0; i < mirror->n_parts; i++) {
        const struct mirror_part *part = &mirror->parts[i];
        if (part->core != core && !map(MIRROR_BASE + part->at, part->bytes, PROT_READ | PROT_WRITE,
                                       MAP_FIXED, mirror->fds[core], part->at))
            return false;
    }
    for (uint32_t i = 0; i < mirror->cores; i++) {
        if (!map(ALIAS_BASE + i * mirror->bytes, mirror->bytes, PROT_READ, MAP_FIXED_NOREPLACE,
                 mirror->fds[i], 0))
            return false;
        close(mirror->fds[i]);
    }
    return true;
}

bool mirror_contains(const void *address)
{
    const unsigned char *a = address;
    return a >= MIRROR_BASE && a < MIRROR_BASE + mirror_bytes;
}

void mirror_close(struct mirror *mirror)
{
    for (uint32_t i = 0; i < mirror->n_parts; i++)
        munmap(MIRROR_BASE + mirror->parts[i].at, mirror->parts[i].bytes);
    for (uint32_t i = 0; i < mirror->cores; i++)
        close(mirror->fds[i]);
    free(mirror->fds);
    free(mirror->parts);
}

// ---- The contract -------------------------------------------------------------------------------

// A task comes to a kernel with all of its private memory in reach.
enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    return stack_init(task);
}

void wb_kernel_copy(void *to, const void *from, size_t bytes)
{
    sanitizer_copy(to, from, bytes);
}

const void *wb_kernel_private(uint32_t core, const void *address)
{
    if (!mirror_contains(address))
        return NULL;
    return ALIAS_BASE + core * mirror_bytes + ((const unsigned char *)address - MIRROR_BASE);
}

void *wb_kernel_stack_low(const struct wb_task *task)
{
    const struct kernel_task *lt = (const struct kernel_task *)(const void *)task->kernel;
    return lt->sp;
}
