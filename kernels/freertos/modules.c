// SPDX-License-Identifier: Apache-2.0
// How a kernel loads the module of a task that is recreated here, and gives its memory back.
//
// The addresses of a task, the same in every kernel:
//
//   module | nothing | stack | heap | nothing
//
// What its heap points at, in itself or in the module's code and constants, is where it was,
// wherever the task has been loaded again. The module's variables begin anew.

#include "freertos_modules.h"

#include <stdio.h>
#include <string.h>

#include "freertos_board.h"
#include "loader/export.h"
#include "loader/machine.h"

enum { PAGE_BYTES = WB_MODULE_PAGE_BYTES, GUARD_BYTES = 64 << 10 };

// In globally visible memory.
struct wb_recreated {
    const struct wb_module_file *file;
    const char *entry;
    unsigned char *module, *stack;
    size_t module_bytes, memory_bytes;  // memory: stack and heap
    struct wb_word at[];  // by core: the entry where its kernel has loaded it, else 0. Its kernel's
};

static const struct wb_linkage the_kernel = { .machine = &wb_machine_arm,
                                              .exports = wb_exports_begin,
                                              .exports_end = wb_exports_end };

static char why[WB_MODULE_WHY_BYTES];  // this kernel could not load the last one that it could not

static size_t pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static struct wb_recreated *recreated_of(struct wb_task *task)
{
    return *wb_freertos_recreated(task);
}

static struct wb_word *entry_here(struct wb_recreated *r)
{
    return &r->at[wb_kernel_core()];
}

static struct wb_module_request request_of(const struct wb_recreated *r, char *text)
{
    return (struct wb_module_request){ .linkage = &the_kernel,
                                       .file = r->file,
                                       .address = (uint32_t)(uintptr_t)r->module,
                                       .entry = r->entry,
                                       .why = text };
}

// ---- The kernel ---------------------------------------------------------------------------------

static bool back(const struct wb_recreated *r)
{
    if (!board_map(r->module, r->module_bytes))
        return false;
    if (board_map(r->stack, r->memory_bytes))
        return true;
    board_unmap(r->module, r->module_bytes);
    return false;
}

static void unmap(const struct wb_recreated *r)
{
    board_unmap(r->module, r->module_bytes);
    board_unmap(r->stack, r->memory_bytes);
}

static enum wb_status load_program(struct wb_recreated *r)
{
    const struct wb_module_request request = request_of(r, why);
    struct wb_module module;

    if (!back(r)) {
        snprintf(why, sizeof why, "module %s: there are no %u KiB of memory for it", r->file->name,
                 (unsigned int)((r->module_bytes + r->memory_bytes) >> 10));
        return WB_ERR_NOMEM;
    }
    if (wb_module_load(&request, r->module, r->module_bytes, &module) != WB_OK) {
        unmap(r);
        return WB_ERR_NOMEM;
    }
    board_make_readonly(r->module, module.fixed_bytes);
    // Relaxed: for this kernel, and for who counts.
    wb_word_store(entry_here(r), module.entry, WB_RELAXED);
    return WB_OK;
}

enum wb_status wb_kernel_load(struct wb_task *task)
{
    struct wb_recreated *r = recreated_of(task);

    if (r == NULL)
        return WB_ERR_NOMEM;
    return wb_word_load(entry_here(r), WB_RELAXED) != 0 ? WB_OK : load_program(r);
}

void wb_kernel_unload(struct wb_task *task)
{
    struct wb_recreated *r = recreated_of(task);

    if (r == NULL || wb_word_load(entry_here(r), WB_RELAXED) == 0)
        return;
    wb_word_store(entry_here(r), 0, WB_RELAXED);
    unmap(r);
}

static void require(struct wb_task *task)
{
    if (wb_kernel_load(task) == WB_OK)
        return;
    wb_system_fault(task->system, WB_FAULT_TASK, task, why);
    wb_kernel_halt();
}

const struct wb_freertos_recreation wb_freertos_recreation = {
    .park = wb_recreation_park,
    .require = require,
    .recreates = wb_freertos_recreates,
};

// The entry of every such task: each of its lives begins here.
static int live(struct wb_task *self)
{
    wb_task_entry *entry =
        (wb_task_entry *)(uintptr_t)wb_word_load(entry_here(recreated_of(self)), WB_RELAXED);

    wb_recreation_begin(self);
    // The job that it came with may be another than the one that its kernel has waited for.
    if (self->period_ns != 0)
        wb_sleep_until(self->arrival.ready_ns);
    return entry(self);
}

// ---- The launcher -------------------------------------------------------------------------------

static const struct wb_module_file *find_file(const char *name)
{
    const struct wb_module_file *file = wb_modules_begin;

    while (file != wb_modules_end && strcmp(file->name, name) != 0)
        file++;
    return file != wb_modules_end ? file : NULL;
}

// Behind all that others have.
static unsigned char *next_address(struct wb_system *system)
{
    size_t bytes;
    unsigned char *next = board_module_space(&bytes);

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_recreated *r = recreated_of(&system->tasks[i]);
        if (r != NULL && r->stack + r->memory_bytes >= next)
            next = r->stack + r->memory_bytes + PAGE_BYTES;
    }
    return next;
}

static bool fits(const struct wb_recreated *r)
{
    size_t bytes;
    const unsigned char *space = board_module_space(&bytes);
    const size_t used = (size_t)(r->module - space);

    return r->module_bytes + GUARD_BYTES + r->memory_bytes + PAGE_BYTES <= bytes - used;
}

static void settle(struct wb_recreated *r, struct wb_task *task, size_t heap_bytes)
{
    task->entry = live;
    task->stack = r->stack;
    wb_heap_init(&task->heap, r->stack + pages(task->stack_bytes), heap_bytes);
    *wb_freertos_recreated(task) = r;
}

enum wb_status wb_freertos_recreates(struct wb_task *task, const char *name, const char *entry,
                                     char *text)
{
    struct wb_system *system = task->system;
    const size_t heap_bytes = (size_t)(task->heap.end - task->heap.base);
    struct wb_recreated *r = wb_system_alloc(system, sizeof *r + system->n_cores * sizeof r->at[0],
                                             _Alignof(struct wb_recreated));
    struct wb_module module;

    if (r == NULL) {
        snprintf(text, WB_MODULE_WHY_BYTES, "module %s: there is no memory to note it", name);
        return WB_ERR_NOMEM;
    }
    *r = (struct wb_recreated){ .file = find_file(name),
                                .entry = entry,
                                .module = next_address(system),
                                .memory_bytes = pages(task->stack_bytes) + pages(heap_bytes) };
    if (r->file == NULL) {
        snprintf(text, WB_MODULE_WHY_BYTES,
                 "module %s: it is not in this image: add it by whimbrel_modules()", name);
        return WB_ERR_INVAL;
    }
    const struct wb_module_request request = request_of(r, text);
    const enum wb_status status = wb_module_check(&request, &module);
    if (status != WB_OK)
        return status;
    r->module_bytes = module.bytes;
    r->stack = r->module + r->module_bytes + GUARD_BYTES;
    if (!fits(r)) {
        snprintf(text, WB_MODULE_WHY_BYTES, "module %s: there are no addresses left for it", name);
        return WB_ERR_NOMEM;
    }
    settle(r, task, heap_bytes);
    return WB_OK;
}

uint32_t wb_freertos_loaded(const struct wb_system *system, uint32_t core)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_recreated *r = recreated_of(&system->tasks[i]);
        n += r != NULL && wb_word_load(&r->at[core], WB_RELAXED) != 0;
    }
    return n;
}
