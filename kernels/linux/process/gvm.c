// SPDX-License-Identifier: Apache-2.0
// Globally visible memory: one anonymous shared file, mapped before the kernels fork. Nothing of it
// outlives the last process that has it mapped.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

// For gvm_contains(), in every kernel.
static const unsigned char *the_end = GVM_BASE;

static int the_fd = -1;

bool gvm_open(struct gvm *gvm, size_t bytes, size_t kept)
{
    bytes = whole_pages(bytes);
    gvm->fd = memfd_create("whimbrel-gvm", MFD_CLOEXEC);
    if (gvm->fd < 0 || ftruncate(gvm->fd, (off_t)bytes) != 0)
        return false;
    gvm->base = mmap(GVM_BASE, bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, gvm->fd, 0);
    if (gvm->base != GVM_BASE) {
        if (gvm->base != MAP_FAILED)
            errno = EEXIST;  // kernels before 4.17 take the address as a hint
        return false;
    }
    the_fd = gvm->fd;
    gvm->bytes = bytes;
    gvm->kept = kept;
    gvm->used = 0;
    the_end = GVM_BASE + bytes;
    if (!sanitizer_share(gvm->base, bytes)) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

void *gvm_take(struct gvm *gvm, size_t bytes)
{
    bytes = whole_pages(bytes);
    if (bytes > gvm->bytes - gvm->kept - gvm->used)
        return NULL;
    void *part = gvm->base + gvm->used;
    gvm->used += bytes;
    return part;
}

// An emulator says yes to advice that it does not know. Nobody gets to read what is marked: here a
// byte, to where it is. That takes a page of the file, so the first guard tells for all.
static bool is_marked(const struct gvm *gvm, unsigned char *at)
{
    static enum { UNKNOWN, YES, NO } marks;

    if (marks == UNKNOWN)
        marks = syscall(SYS_pwrite64, gvm->fd, at, 1, at - gvm->base) < 0 ? YES : NO;
    return marks == YES;
}

// Linux 6.15 has marks in the page table for this. Before, each guard was a mapping of its own and
// made one of its stack, of which a process may have 65530 (vm.max_map_count).
static bool mark(const struct gvm *gvm, unsigned char *at)
{
    enum { GUARD_INSTALL = 102 };  // MADV_GUARD_INSTALL of newer headers

    return madvise(at, GUARD_BYTES, GUARD_INSTALL) == 0 && is_marked(gvm, at);
}

void *gvm_stack(struct gvm *gvm, size_t bytes)
{
    unsigned char *lowest = gvm_take(gvm, GUARD_BYTES + bytes);

    // Below the stack: it grows into the guard, and the fault names the task (see fault.c).
    if (lowest == NULL || (!mark(gvm, lowest) && mprotect(lowest, GUARD_BYTES, PROT_NONE) != 0))
        return NULL;
    return lowest + GUARD_BYTES;
}

// By a plain system call: a copy that AddressSanitizer sees would stop at the red zones between the
// variables.
static bool copy_in(const struct gvm *gvm, const unsigned char *from, size_t bytes, off_t at)
{
    while (bytes != 0) {
        const long n = syscall(SYS_pwrite64, gvm->fd, from, bytes, at);
        if (n <= 0)
            return false;
        from += n;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool gvm_replace(struct gvm *gvm, void *at, size_t bytes)
{
    const unsigned char *part = gvm_take(gvm, bytes);

    return part != NULL && copy_in(gvm, at, bytes, part - gvm->base) &&
           mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, gvm->fd,
                part - gvm->base) == at;
}

bool gvm_alias(const struct gvm *gvm, void *at, const void *shared)
{
    return mmap(at, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, gvm->fd,
                (const unsigned char *)shared - gvm->base) == at;
}

bool gvm_contains(const void *address)
{
    const unsigned char *a = address;
    return (a >= GVM_BASE && a < the_end) || private_mapping_contains(a);
}

int gvm_share(size_t *bytes)
{
    *bytes = (size_t)(the_end - GVM_BASE);
    return fcntl(the_fd, F_DUPFD_CLOEXEC, 0);
}

void gvm_close(struct gvm *gvm)
{
    if (gvm->bytes != 0)
        munmap(gvm->base, gvm->bytes);
    if (gvm->fd >= 0)
        close(gvm->fd);
}
