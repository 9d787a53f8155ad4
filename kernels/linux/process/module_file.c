// SPDX-License-Identifier: Apache-2.0
// The file of a module, before the loader of the C library maps it: a file that is cut off would
// kill this process there, and nobody would say what machine or version a module is for.

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch.h"
#include "module.h"
#include "wb/status.h"

struct view {
    const char *path;
    const unsigned char *at;
    size_t bytes;
    char *error;
    size_t error_bytes;
};

static bool refuse(const struct view *view, const char *why)
{
    snprintf(view->error, view->error_bytes, "%.400s: %s", view->path, why);
    return false;
}

static const char *machine_of(uint16_t machine)
{
    switch (machine) {
    case EM_386:
        return "x86 (32 bits)";
    case EM_X86_64:
        return "x86-64";
    case EM_ARM:
        return "Arm (32 bits)";
    case EM_AARCH64:
        return "AArch64";
    case EM_RISCV:
        return "RISC-V";
    default:
        return "another kind of processor";
    }
}

static bool check_header(const struct view *view, const Elf64_Ehdr *header)
{
    char why[160];

    if (view->bytes < sizeof header->e_ident || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return refuse(view, "it is not a shared object: build it with -shared");
    if (view->bytes < sizeof *header)
        return refuse(view, "it is cut off: build it again");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != ARCH_MACHINE) {
        snprintf(why, sizeof why,
                 "it is for %s, and this machine is %s: build it again for this one",
                 machine_of(header->e_machine), machine_of(ARCH_MACHINE));
        return refuse(view, why);
    }
    return header->e_type == ET_DYN ||
           refuse(view, "it is an object file or a program: link it with -shared");
}

// Of a note of ours, one for each of its source files.
static bool check_version(const struct view *view, const char *version, size_t bytes)
{
    char why[160];

    if (strncmp(version, WB_VERSION, bytes) == 0)
        return true;
    snprintf(why, sizeof why,
             "it was built for Whimbrel %.*s, and this is version " WB_VERSION ": build it again",
             (int)strnlen(version, bytes < 32 ? bytes : 32), version);
    return refuse(view, why);
}

static bool check_notes(const struct view *view, size_t from, size_t end)
{
    Elf64_Nhdr note;

    while (from + sizeof note <= end) {
        memcpy(&note, view->at + from, sizeof note);
        const size_t name = from + sizeof note;
        const size_t desc = name + (((size_t)note.n_namesz + 3) & ~(size_t)3);
        from = desc + (((size_t)note.n_descsz + 3) & ~(size_t)3);
        if (from > end)
            break;
        if (note.n_namesz == sizeof WB_NOTE_NAME && note.n_type == WB_NOTE_VERSION &&
            memcmp(view->at + name, WB_NOTE_NAME, sizeof WB_NOTE_NAME) == 0 &&
            !check_version(view, (const char *)view->at + desc, note.n_descsz))
            return false;
    }
    return true;
}

static bool check_segments(const struct view *view, const Elf64_Ehdr *header)
{
    Elf64_Phdr segment;
    const size_t end = header->e_phoff + (size_t)header->e_phnum * sizeof segment;

    if (header->e_phentsize != sizeof segment || header->e_phoff > view->bytes || end > view->bytes)
        return refuse(view, "it is cut off: build it again");
    for (size_t at = header->e_phoff; at < end; at += sizeof segment) {
        memcpy(&segment, view->at + at, sizeof segment);
        if (segment.p_filesz == 0)
            continue;
        if (segment.p_offset > view->bytes || segment.p_filesz > view->bytes - segment.p_offset)
            return refuse(view, "it is cut off: build it again");
        if (segment.p_type == PT_INTERP)
            return refuse(view, "it is a program: link it with -shared");
        if (segment.p_type == PT_NOTE &&
            !check_notes(view, segment.p_offset, segment.p_offset + segment.p_filesz))
            return false;
    }
    return true;
}

bool module_file_check(const char *path, char *error, size_t error_bytes)
{
    struct view view = { .path = path, .error = error, .error_bytes = error_bytes };
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf64_Ehdr header = { 0 };
    struct stat status;

    if (fd < 0)
        return refuse(&view, strerror(errno));
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        view.bytes = (size_t)status.st_size;
    void *at = view.bytes != 0 ? mmap(NULL, view.bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (at == MAP_FAILED)
        return refuse(&view, view.bytes != 0 ? strerror(errno) : "it is empty: build it again");
    view.at = at;
    memcpy(&header, at, view.bytes < sizeof header ? view.bytes : sizeof header);
    const bool is_good = check_header(&view, &header) && check_segments(&view, &header);
    munmap(at, view.bytes);
    return is_good;
}
