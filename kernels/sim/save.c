// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "save.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fnv.h"
#include "private_mapping.h"

enum { ID_BYTES = 32 };

static const char magic[8] = "WBSIM\0\0\4";
static const uint64_t no_page = UINT64_MAX;

struct header {
    char magic[sizeof magic], id[ID_BYTES];
    uint64_t code[3];  // where this program, the module and the C library are
    uint64_t gvm_bytes, engine_bytes;
    struct sim sim;
};

void sim_fix_addresses(char **argv)
{
    const int persona = personality(0xffffffff);

    if (persona < 0 || (persona & ADDR_NO_RANDOMIZE) != 0 ||
        personality((unsigned long)persona | ADDR_NO_RANDOMIZE) < 0)
        return;
    execv("/proc/self/exe", argv);
}

static struct header header_of(const struct gvm *gvm, const char *id)
{
    struct header h = { .gvm_bytes = gvm->bytes, .sim = sim };

    memcpy(h.magic, magic, sizeof magic);
    strncpy(h.id, id, ID_BYTES - 1);
    h.code[0] = (uintptr_t)&sim_run;
    h.code[1] = sim.system->n_tasks != 0 ? (uintptr_t)sim.system->tasks[0].entry : 0;
    h.code[2] = (uintptr_t)&abort;
    return h;
}

struct file {
    FILE *stream;
    uint64_t sum;  // of what was written: one that was damaged would go on as another simulation
};

// ---- Saving -------------------------------------------------------------------------------------

static bool put_bytes(struct file *f, const void *from, size_t bytes)
{
    f->sum = fnv_of(f->sum, from, bytes);
    return fwrite(from, bytes, 1, f->stream) == 1;
}

static bool write_engine(struct file *out, size_t bytes)
{
    unsigned char *buffer = malloc(bytes);
    const bool written = buffer != NULL && engine_save(sim.engine, buffer, bytes) == bytes &&
                         put_bytes(out, buffer, bytes);

    free(buffer);
    return written;
}

// By the descriptor: guards cannot be read in memory, and what was never touched is skipped.
static bool write_pages(struct file *out, const struct gvm *gvm)
{
    static unsigned char page[PAGE_BYTES];
    off_t at = 0;

    while ((at = lseek(gvm->fd, at, SEEK_DATA)) >= 0 && (size_t)at < gvm->bytes) {
        const uint64_t where = (uint64_t)at;
        if (pread(gvm->fd, page, sizeof page, at) != sizeof page ||
            !put_bytes(out, &where, sizeof where) || !put_bytes(out, page, sizeof page))
            return false;
        at += PAGE_BYTES;
    }
    return put_bytes(out, &no_page, sizeof no_page);
}

static bool write_all(FILE *stream, const struct gvm *gvm, const char *id)
{
    struct file out = { .stream = stream, .sum = FNV_BEGIN };
    struct header header = header_of(gvm, id);

    if (stream == NULL)
        return false;
    header.engine_bytes = engine_save(sim.engine, NULL, 0);
    const bool written = put_bytes(&out, &header, sizeof header) &&
                         write_engine(&out, header.engine_bytes) && write_pages(&out, gvm) &&
                         fwrite(&out.sum, sizeof out.sum, 1, stream) == 1;
    return fclose(stream) == 0 && written;
}

// A file of its own until it is whole; of this user alone, since who could write it would have his
// code run here.
static bool replace(int folder, const char *name, const struct gvm *gvm, const char *id)
{
    char new[NAME_MAX + 1];

    // No other process has this number, and what one of the same number has left is this user's or
    // is not removed.
    if (snprintf(new, sizeof new, ".whimbrel-%ld", (long)getpid()) < 0)
        return false;
    (void)unlinkat(folder, new, 0);
    const int fd = openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          S_IRUSR | S_IWUSR);
    bool saved = write_all(fd >= 0 ? fdopen(fd, "wb") : NULL, gvm, id);
    saved = saved && renameat(folder, new, folder, name) == 0;
    if (!saved && fd >= 0)
        unlinkat(folder, new, 0);
    return saved;
}

static bool save(int folder, const char *name, const struct gvm *gvm, const char *id)
{
    struct stat now;

    if (fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(now.st_mode))
        return replace(folder, name, gvm, id);
    const int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    return write_all(fd >= 0 ? fdopen(fd, "wb") : NULL, gvm, id);
}

// The command has followed the links that may be followed: what is one now was put there since.
// What is no file, as a pipe, is not replaced by one.
const char *sim_save(struct wb_host *host, const char *path, const char *id)
{
    const char *slash = strrchr(path, '/');
    char *above = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    const int folder = above == NULL ? -1 : open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool saved =
        folder >= 0 && save(folder, slash == NULL ? path : slash + 1, sim_host_memory(host), id);

    free(above);
    if (folder >= 0)
        close(folder);
    return saved ? NULL : "the file cannot be written";
}

// ---- Restoring ----------------------------------------------------------------------------------

static const char *compare(const struct header *saved, const struct header *mine)
{
    if (memcmp(saved->magic, mine->magic, sizeof saved->magic) != 0)
        return "it is not a saved simulation of this version";
    if (memcmp(saved->id, mine->id, sizeof saved->id) != 0)
        return "it was saved by a run with other options";
    if (memcmp(saved->code, mine->code, sizeof saved->code) != 0 ||
        saved->gvm_bytes != mine->gvm_bytes)
        return "it was saved by another build, or where code lies elsewhere";
    return NULL;
}

// The last word is the sum of all before it.
static bool is_whole(FILE *in)
{
    static unsigned char part[1 << 16];
    uint64_t sum = FNV_BEGIN, expected;
    const long bytes = fseek(in, -(long)sizeof expected, SEEK_END) == 0 ? ftell(in) : -1;

    if (bytes < 0 || fread(&expected, sizeof expected, 1, in) != 1)
        return false;
    rewind(in);
    for (long left = bytes; left > 0;) {
        const size_t n = left < (long)sizeof part ? (size_t)left : sizeof part;
        if (fread(part, n, 1, in) != 1)
            return false;
        sum = fnv_of(sum, part, n);
        left -= (long)n;
    }
    return sum == expected;
}

static bool read_engine(FILE *in, size_t bytes)
{
    unsigned char *buffer = malloc(bytes);
    const bool read = buffer != NULL && fread(buffer, bytes, 1, in) == 1 &&
                      engine_restore(sim.engine, buffer, bytes);

    free(buffer);
    return read;
}

static bool read_pages(FILE *in, const struct gvm *gvm)
{
    static unsigned char page[PAGE_BYTES];
    uint64_t where;

    // What is there now is forgotten; the mapping stays.
    if (ftruncate(gvm->fd, 0) != 0 || ftruncate(gvm->fd, (off_t)gvm->bytes) != 0)
        return false;
    while (fread(&where, sizeof where, 1, in) == 1 && where != no_page)
        if (where > gvm->bytes - PAGE_BYTES || fread(page, sizeof page, 1, in) != 1 ||
            pwrite(gvm->fd, page, sizeof page, (off_t)where) != sizeof page)
            return false;
    return where == no_page;
}

// What belongs to this process stays.
static void take_state(const struct sim *saved)
{
    struct sim next = *saved;

    next.engine = sim.engine;
    next.command = sim.command;
    next.loop.sp = next.loop.fake_stack = NULL;
    next.run.on = next.run.paused = false;
    sim = next;
    sim_set_counting(false);
    // The replicas were saved; which of them lies where its task looks has to be set up again.
    for (uint32_t i = 0; i < sim.system->n_tasks; i++) {
        const struct wb_task *task = &sim.system->tasks[i];
        if (task->mode == WB_REPLICATE)
            private_mapping_give(task, wb_word_load(&task->memory_core, WB_RELAXED));
    }
}

// What is restored runs as this user: nobody else may have written it.
static const char *distrust(FILE *in)
{
    struct stat file;

    if (fstat(fileno(in), &file) != 0 || !S_ISREG(file.st_mode))
        return "it is not a regular file";
    if (file.st_uid != geteuid())
        return "it belongs to another user: a saved simulation is code";
    if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "other users may write it: a saved simulation is code";
    return NULL;
}

const char *sim_restore(struct wb_host *host, const char *path, const char *id)
{
    const struct gvm *gvm = sim_host_memory(host);
    const struct header mine = header_of(gvm, id);
    static struct header saved;
    FILE *in = fopen(path, "rbe");

    if (in == NULL)
        return "the file cannot be read";
    const char *untrusted = distrust(in);
    if (untrusted != NULL) {
        fclose(in);
        return untrusted;
    }
    const char *wrong = fread(&saved, sizeof saved, 1, in) == 1 ? compare(&saved, &mine)
                                                                : "it is not a saved simulation";
    if (wrong == NULL && (!is_whole(in) || fseek(in, sizeof saved, SEEK_SET) != 0 ||
                          !read_engine(in, saved.engine_bytes) || !read_pages(in, gvm)))
        wrong = "it is damaged";
    fclose(in);
    if (wrong == NULL)
        take_state(&saved.sim);
    return wrong;
}
