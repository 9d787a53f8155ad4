// SPDX-License-Identifier: Apache-2.0
// The program that tasks which are recreated are loaded from: a static executable for fixed
// addresses, so that the launcher can find their entries in its symbol table.

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "hosted.h"

#ifdef __aarch64__
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_X86_64 };
#endif

// Of the launcher; the kernels inherit it.
static struct {
    struct hosted **rows;  // by task: one for each core; NULL: not hosted
    char *path;
    const unsigned char *image;  // the file
    size_t image_bytes, gvm_bytes, heaps_bytes;
    int gvm;
} the_program;

const char *hosted_program(void)
{
    return the_program.path;
}

int hosted_gvm(size_t *bytes)
{
    *bytes = the_program.gvm_bytes;
    return the_program.gvm;
}

struct hosted *hosted_of(const struct wb_task *task, uint32_t core)
{
    if (the_program.rows == NULL || the_program.rows[task->id] == NULL)
        return NULL;
    return &the_program.rows[task->id][core];
}

// ---- The file -----------------------------------------------------------------------------------

static bool map_image(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;

    if (fd < 0)
        return false;
    void *image = MAP_FAILED;
    if (fstat(fd, &status) == 0)
        image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (image == MAP_FAILED)
        return false;
    the_program.image = image;
    the_program.image_bytes = (size_t)status.st_size;
    return true;
}

static bool has(size_t offset, size_t bytes)
{
    return offset <= the_program.image_bytes && bytes <= the_program.image_bytes - offset;
}

static const Elf64_Shdr *sections(uint32_t *count)
{
    const Elf64_Ehdr *head = (const void *)the_program.image;

    if (!has(0, sizeof *head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_type != ET_EXEC || head->e_machine != MACHINE ||
        !has(head->e_shoff, (size_t)head->e_shnum * sizeof(Elf64_Shdr)))
        return NULL;
    *count = head->e_shnum;
    return (const void *)(the_program.image + head->e_shoff);
}

// A function of the application, not one of the C library that is linked with it (program.mk).
static uintptr_t find_entry(const char *name)
{
    static const char own[] = "whimbrel_entry_";
    enum { OWN = sizeof own - 1 };
    uint32_t count = 0;
    const Elf64_Shdr *section = sections(&count);

    for (uint32_t i = 0; i < count; i++) {
        if (section[i].sh_type != SHT_SYMTAB || section[i].sh_link >= count ||
            !has(section[i].sh_offset, section[i].sh_size))
            continue;
        const Elf64_Sym *symbols = (const void *)(the_program.image + section[i].sh_offset);
        const Elf64_Shdr *texts = &section[section[i].sh_link];
        for (size_t s = 0; s < section[i].sh_size / sizeof *symbols; s++) {
            const size_t at = texts->sh_offset + symbols[s].st_name;
            if (ELF64_ST_TYPE(symbols[s].st_info) == STT_FUNC && symbols[s].st_value != 0 &&
                has(at, OWN + strlen(name) + 1) && memcmp(the_program.image + at, own, OWN) == 0 &&
                strcmp((const char *)the_program.image + at + OWN, name) == 0)
                return symbols[s].st_value;
        }
    }
    return 0;
}

// ---- The launcher -------------------------------------------------------------------------------

enum wb_status wb_host_program(struct wb_host *lx, const char *path)
{
    const struct wb_system *system = wb_host_system(lx);
    uint32_t count;

    if (!map_image(path) || sections(&count) == NULL)
        return WB_ERR_INVAL;
    the_program.path = realpath(path, NULL);
    the_program.rows = calloc(system->config.tasks, sizeof *the_program.rows);
    the_program.gvm = gvm_share(&the_program.gvm_bytes);
    if (the_program.path == NULL || the_program.rows == NULL || the_program.gvm < 0)
        return WB_ERR_NOMEM;
    // What a killed kernel has hosted becomes ours to reap.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return WB_OK;
}

// No two heaps lie at one address, so who uses a block of another's finds none.
static void *take_place(size_t heap_bytes)
{
    unsigned char *place = HOSTED_HEAPS + the_program.heaps_bytes;

    the_program.heaps_bytes += (heap_bytes / PAGE_BYTES + 1) * PAGE_BYTES + GUARD_BYTES;
    return place;
}

size_t wb_host_recreated_bytes(uint32_t cores)
{
    return cores * sizeof(struct hosted);
}

enum wb_status wb_host_recreates(struct wb_host *lx, struct wb_task *task, const char *entry,
                                 char *why, size_t why_bytes)
{
    struct wb_system *system = wb_host_system(lx);
    const size_t heap_bytes = (size_t)(task->heap.end - task->heap.base);
    const uintptr_t at = the_program.rows != NULL ? find_entry(entry) : 0;

    if (at == 0) {
        snprintf(why, why_bytes, "its program has no function %s: build it again", entry);
        return WB_ERR_INVAL;
    }
    struct hosted *row =
        wb_system_alloc(system, wb_host_recreated_bytes(system->n_cores), _Alignof(struct hosted));
    if (row == NULL) {
        snprintf(why, why_bytes, "there is no globally visible memory to note its program");
        return WB_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < system->n_cores; i++)
        row[i] = (struct hosted){ .layout = hosted_layout(),
                                  .system = system,
                                  .task = task,
                                  .core = system->cores[i],
                                  .entry = (wb_task_entry *)at,
                                  .clock = clock_rate() };
    the_program.rows[task->id] = row;
    task->entry = host_run;
    wb_heap_init(&task->heap, take_place(heap_bytes), heap_bytes);
    return WB_OK;
}

// Waiting for its turn it does no harm, and will never get it.
static bool is_running(const struct hosted *h)
{
    // Acquire: whoever starts the task again sees what it wrote.
    const uint32_t turn = wb_word_load(&h->turn, WB_ACQUIRE);
    const pid_t pid = (pid_t)(turn & FUTEX_TID_MASK);

    if (pid == 0 || (turn & FUTEX_OWNER_DIED) != 0)
        return false;
    return waitpid(pid, NULL, WNOHANG) != pid && (kill(pid, 0) == 0 || errno != ESRCH);
}

void hosted_await_end(const struct wb_system *system, uint32_t core)
{
    const struct timespec wait = { .tv_nsec = 50000 };

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct hosted *h = hosted_of(&system->tasks[i], core);
        while (h != NULL && is_running(h))
            nanosleep(&wait, NULL);
    }
}

void hosted_forget(const struct wb_system *system, uint32_t core)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct hosted *h = hosted_of(&system->tasks[i], core);
        if (h == NULL || hosted_pid(h) == 0)
            continue;
        waitpid(hosted_pid(h), NULL, 0);
        wb_word_store(&h->pid, 0, WB_SEQ_CST);
        wb_word_store(&h->turn, 0, WB_RELAXED);
    }
}

void hosted_close(const struct wb_system *system)
{
    for (uint32_t i = 0; the_program.rows != NULL && i < system->n_tasks; i++)
        for (uint32_t core = 0; core < system->n_cores; core++) {
            const struct hosted *h = hosted_of(&system->tasks[i], core);
            if (h != NULL && hosted_pid(h) != 0)
                waitpid(hosted_pid(h), NULL, 0);
        }
    if (the_program.image != NULL)
        munmap((void *)(uintptr_t)the_program.image, the_program.image_bytes);
    if (the_program.rows != NULL)
        close(the_program.gvm);
    free(the_program.path);
    free(the_program.rows);
    memset(&the_program, 0, sizeof the_program);
}
