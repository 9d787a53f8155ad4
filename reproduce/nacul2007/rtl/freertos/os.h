// SPDX-License-Identifier: Apache-2.0
// Ports as queues of FreeRTOS.
#ifndef OS_H
#define OS_H

#include <stdbool.h>
#include <stdint.h>

#include <FreeRTOS.h>
#include <queue.h>

#include "soc.h"

enum { RTOS_SEND_WAITS = true, OS_PORTS = 64 };

extern QueueHandle_t os_queues[OS_PORTS];

static inline void rtos_send(uint32_t port, const uint32_t *message, uint32_t words)
{
    (void)words;
    xQueueSend(os_queues[port], message, portMAX_DELAY);
}

static inline void rtos_receive(uint32_t port, uint32_t *message, uint32_t words)
{
    (void)words;
    xQueueReceive(os_queues[port], message, portMAX_DELAY);
}

#endif
