// SPDX-License-Identifier: Apache-2.0
// Calls of a module that must not reach the C library of one kernel.
//
// The heap: blocks have to be visible to every kernel, so they come from the task's heap. Mutexes:
// they work within one kernel only, so a task that holds one is not moved.

#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "wb/memory.h"

static struct wb_heap *launcher_heap;
static struct wb_system *launcher_system;

void hooks_init(struct wb_system *system, struct wb_heap *heap)
{
    launcher_heap = heap;
    launcher_system = system;
}

static void *checked(void *block)
{
    if (block == NULL)
        errno = ENOMEM;
    return block;
}

void *hook_malloc(size_t bytes)
{
    if (wb_kernel_self() != NULL)
        return checked(wb_malloc(bytes));
    // A program has no launcher's heap: its constructors allocate from the C library.
    return launcher_heap != NULL ? checked(wb_heap_malloc(launcher_heap, bytes)) : malloc(bytes);
}

void *hook_calloc(size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return checked(NULL);
    void *block = hook_malloc(count * bytes);
    return block != NULL ? memset(block, 0, count * bytes) : NULL;
}

// Blocks from before the module was redirected (its constructors') belong to the C library.
void hook_free(void *block)
{
    if (gvm_contains(block))
        wb_free(block);
    else
        free(block);
}

size_t hook_malloc_usable_size(void *block)
{
    return gvm_contains(block) ? wb_malloc_size(block) : malloc_usable_size(block);
}

void *hook_realloc(void *block, size_t bytes)
{
    if (block != NULL && gvm_contains(block) && wb_kernel_self() != NULL)
        return checked(wb_realloc(block, bytes));
    void *fresh = hook_malloc(bytes);
    if (fresh != NULL && block != NULL) {
        const size_t old = hook_malloc_usable_size(block);
        memcpy(fresh, block, old < bytes ? old : bytes);
        hook_free(block);
    }
    return fresh;
}

void *hook_aligned_alloc(size_t align, size_t bytes)
{
    if (wb_kernel_self() == NULL)
        return align <= 16 ? hook_malloc(bytes) : checked(NULL);
    return checked(wb_memalign(align, bytes));
}

// The older name of the same; a program's names are replaced one by one.
void *hook_memalign(size_t align, size_t bytes)
{
    return hook_aligned_alloc(align, bytes);
}

int hook_posix_memalign(void **block, size_t align, size_t bytes)
{
    void *fresh = hook_aligned_alloc(align, bytes);

    if (fresh == NULL)
        return ENOMEM;
    *block = fresh;
    return 0;
}

char *hook_strndup(const char *text, size_t most)
{
    const size_t n = strnlen(text, most);
    char *copy = hook_malloc(n + 1);

    if (copy == NULL)
        return NULL;
    copy[n] = '\0';
    return memcpy(copy, text, n);
}

char *hook_strdup(const char *text)
{
    return hook_strndup(text, SIZE_MAX - 1);
}

// operator new: there is no way to throw from here, and nobody would catch it.
void *hook_new(size_t bytes)
{
    void *block = hook_malloc(bytes);
    struct wb_task *self = wb_kernel_self();

    if (block == NULL && self != NULL)
        wb_task_fail(self, "operator new: its heap is used up; raise `heap` of the task");
    if (block == NULL)
        abort();
    return block;
}

void hook_delete_sized(void *block, size_t bytes)
{
    (void)bytes;
    hook_free(block);
}

// The application's own hooks share memory as well.
static void *hook_shared_malloc(size_t bytes)
{
    return wb_kernel_self() != NULL ? wb_shared_malloc(bytes)
                                    : wb_system_shared_malloc(launcher_system, bytes);
}

static void *hook_shared_realloc(void *block, size_t bytes)
{
    return wb_kernel_self() != NULL ? wb_shared_realloc(block, bytes)
                                    : wb_system_shared_realloc(launcher_system, block, bytes);
}

static void hook_shared_free(void *block)
{
    if (wb_kernel_self() != NULL)
        wb_shared_free(block);
    else
        wb_system_shared_free(launcher_system, block);
}

static void count_mutex(int difference)
{
    struct wb_task *self = wb_kernel_self();

    if (self != NULL)
        kernel_task(self)->mutexes += (uint32_t)difference;
}

int hook_mutex_lock(pthread_mutex_t *mutex)
{
    const int result = pthread_mutex_lock(mutex);

    if (result == 0)
        count_mutex(1);
    return result;
}

int hook_mutex_trylock(pthread_mutex_t *mutex)
{
    const int result = pthread_mutex_trylock(mutex);

    if (result == 0)
        count_mutex(1);
    return result;
}

int hook_mutex_unlock(pthread_mutex_t *mutex)
{
    const int result = pthread_mutex_unlock(mutex);

    if (result == 0)
        count_mutex(-1);
    return result;
}

hook *hook_for(const char *name)
{
    static const struct {
        const char *name;
        hook *target;
    } hooks[] = {
        { "malloc", (hook *)hook_malloc },
        { "calloc", (hook *)hook_calloc },
        { "realloc", (hook *)hook_realloc },
        { "free", (hook *)hook_free },
        { "aligned_alloc", (hook *)hook_aligned_alloc },
        { "memalign", (hook *)hook_memalign },
        { "posix_memalign", (hook *)hook_posix_memalign },
        { "malloc_usable_size", (hook *)hook_malloc_usable_size },
        { "strdup", (hook *)hook_strdup },
        { "__strdup", (hook *)hook_strdup },
        { "strndup", (hook *)hook_strndup },
        { "__strndup", (hook *)hook_strndup },
        { "_Znwm", (hook *)hook_new },
        { "_Znam", (hook *)hook_new },
        { "_ZdlPv", (hook *)hook_free },
        { "_ZdaPv", (hook *)hook_free },
        { "_ZdlPvm", (hook *)hook_delete_sized },
        { "_ZdaPvm", (hook *)hook_delete_sized },
        { "wb_shared_malloc", (hook *)hook_shared_malloc },
        { "wb_shared_realloc", (hook *)hook_shared_realloc },
        { "wb_shared_free", (hook *)hook_shared_free },
        { "pthread_mutex_lock", (hook *)hook_mutex_lock },
        { "pthread_mutex_trylock", (hook *)hook_mutex_trylock },
        { "pthread_mutex_unlock", (hook *)hook_mutex_unlock },
    };

    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return hooks[i].target;
    return NULL;
}
