// SPDX-License-Identifier: Apache-2.0
// Mutexes of POSIX as mutexes of FreeRTOS, for the suite's program: newlib has none here.
#ifndef CONFORM_PTHREAD_H
#define CONFORM_PTHREAD_H

#include "FreeRTOS.h"
#include "semphr.h"

typedef struct {
    StaticSemaphore_t memory;
    SemaphoreHandle_t handle;  // NULL: not made yet
} pthread_mutex_t;

#define PTHREAD_MUTEX_INITIALIZER                                                                  \
    {                                                                                              \
        .handle = NULL                                                                             \
    }

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (mutex->handle == NULL)
        mutex->handle = xSemaphoreCreateMutexStatic(&mutex->memory);
    return xSemaphoreTake(mutex->handle, portMAX_DELAY) == pdTRUE ? 0 : -1;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return xSemaphoreGive(mutex->handle) == pdTRUE ? 0 : -1;
}

#endif
