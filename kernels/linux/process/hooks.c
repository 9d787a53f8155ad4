// SPDX-License-Identifier: Apache-2.0
// Calls of a module that must not reach the C library of one kernel: those of the heap, and of
// mutexes, which work within one kernel only, so a task that holds one is not moved. A sleep is not
// cut short by the kernel's alarm.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "heap_hooks.h"
#include "module.h"
#include "wb/wb.h"

bool hooks_see(const void *block)
{
    return gvm_contains(block);
}

// The application's own hooks share memory as well.
static void *hook_shared_malloc(size_t bytes)
{
    return wb_kernel_self() != NULL ? wb_shared_malloc(bytes)
                                    : wb_system_shared_malloc(kernel_system(), bytes);
}

static void *hook_shared_realloc(void *block, size_t bytes)
{
    return wb_kernel_self() != NULL ? wb_shared_realloc(block, bytes)
                                    : wb_system_shared_realloc(kernel_system(), block, bytes);
}

static void hook_shared_free(void *block)
{
    if (wb_kernel_self() != NULL)
        wb_shared_free(block);
    else
        wb_system_shared_free(kernel_system(), block);
}

static void count_mutex(int difference)
{
    struct wb_task *self = wb_kernel_self();

    if (self != NULL)
        kernel_task(self)->libc.mutexes += (uint32_t)difference;
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

// exit() itself is noticed however it is called (fault.c).
static void hook__exit(int status)
{
    fault_exit("_exit", status);
    _exit(status);
}

static void hook_quick_exit(int status)
{
    fault_exit("quick_exit", status);
    quick_exit(status);
}

static void hook_pthread_exit(void *result)
{
    fault_exit("pthread_exit", (int)(intptr_t)result);
    pthread_exit(result);
}

static void hook_thrd_exit(int result)
{
    fault_exit("thrd_exit", result);
    thrd_exit(result);
}

// Time to a moment needs no rest: `left` stays what it is.
static int hook_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                struct timespec *rest)
{
    struct timespec left = *wanted;
    int error;

    (void)rest;
    do
        error = clock_nanosleep(clock, flags, &left, &left);
    while (error == EINTR);
    return error;
}

static int hook_nanosleep(const struct timespec *wanted, struct timespec *rest)
{
    const int error = hook_clock_nanosleep(CLOCK_REALTIME, 0, wanted, rest);

    if (error != 0)
        errno = error;
    return error == 0 ? 0 : -1;
}

static unsigned hook_sleep(unsigned seconds)
{
    hook_nanosleep(&(struct timespec){ .tv_sec = seconds }, NULL);
    return 0;
}

static int hook_usleep(useconds_t us)
{
    return hook_nanosleep(
        &(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L }, NULL);
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
        { "_exit", (hook *)hook__exit },
        { "_Exit", (hook *)hook__exit },
        { "quick_exit", (hook *)hook_quick_exit },
        { "pthread_exit", (hook *)hook_pthread_exit },
        { "thrd_exit", (hook *)hook_thrd_exit },
        { "sleep", (hook *)hook_sleep },
        { "usleep", (hook *)hook_usleep },
        { "nanosleep", (hook *)hook_nanosleep },
        { "thrd_sleep", (hook *)hook_nanosleep },
        { "clock_nanosleep", (hook *)hook_clock_nanosleep },
        { "pthread_mutex_lock", (hook *)hook_mutex_lock },
        { "pthread_mutex_trylock", (hook *)hook_mutex_trylock },
        { "pthread_mutex_unlock", (hook *)hook_mutex_unlock },
    };

    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return hooks[i].target;
    return NULL;
}
