// SPDX-License-Identifier: Apache-2.0
// Whether what a task keeps is of use to another program, as it must be where it is re-entered
// (docs/mixed.md): no address of code, of constants or of the application's globals, none of its
// stack. Words of its heap are compared with the addresses of all that this process has loaded.

#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

struct search {
    const struct wb_task *task;
    const uintptr_t *found;
    const char *of;  // what the address is of
};

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *search = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum && search->found == NULL; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t low = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD)
            search->found = wb_heap_find(search->task, low, low + p->p_memsz);
    }
    if (search->found != NULL)
        search->of = info->dlpi_name;
    return search->found != NULL;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return path[0] == '\0' ? "this program" : slash != NULL ? slash + 1 : path;
}

bool portable_is_wanted(void)
{
    static enum { UNKNOWN, YES, NO } wanted;

    if (wanted == UNKNOWN)
        wanted = getenv("WHIMBREL_CHECK_STATE") != NULL ? YES : NO;
    return wanted == YES;
}

void portable_check(struct wb_task *task)
{
    const uintptr_t stack = (uintptr_t)task->stack;
    struct search search = { .task = task, .of = "its stack" };
    char text[WB_ERROR_BYTES];

    search.found = wb_heap_find(task, stack, stack + task->stack_bytes);
    if (search.found == NULL)
        (void)dl_iterate_phdr(search_object, &search);
    if (search.found == NULL)
        return;
    snprintf(text, sizeof text,
             "what it keeps has an address of %.60s, %zu bytes into its heap: another program can "
             "make nothing of that, so keep a number or a name",
             base_of(search.of),
             (size_t)((const unsigned char *)search.found - (unsigned char *)task->heap.base));
    wb_task_fail(task, text);
}
