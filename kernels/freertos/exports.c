// SPDX-License-Identifier: Apache-2.0
// What every kernel exports to modules: the functions of wb/wb.h, those of FreeRTOS that a task may
// call on whichever kernel it is, and what compilers and tasks take for granted of a C library. An
// application exports its own in the same way (export.h).

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "FreeRTOS.h"
#include "loader/export.h"
#include "semphr.h"
#include "task.h"
#include "wb/wb.h"

// ---- wb/wb.h ------------------------------------------------------------------------------------

WB_EXPORT(wb_app_alloc);
WB_EXPORT(wb_barrier_init);
WB_EXPORT(wb_barrier_join);
WB_EXPORT(wb_barrier_pass);
WB_EXPORT(wb_barrier_wait);
WB_EXPORT(wb_call);
WB_EXPORT(wb_call_async);
WB_EXPORT(wb_call_begin);
WB_EXPORT(wb_call_commit);
WB_EXPORT(wb_call_complete);
WB_EXPORT(wb_call_outstanding);
WB_EXPORT(wb_call_release);
WB_EXPORT(wb_call_room);
WB_EXPORT(wb_call_take);
WB_EXPORT(wb_caller_open);
WB_EXPORT(wb_calloc);
WB_EXPORT(wb_checkpoint_enter);
WB_EXPORT(wb_compute);
WB_EXPORT(wb_condition_broadcast);
WB_EXPORT(wb_condition_init);
WB_EXPORT(wb_condition_signal);
WB_EXPORT(wb_condition_wait);
WB_EXPORT(wb_counter_set);
WB_EXPORT(wb_counter_settled);
WB_EXPORT(wb_fire);
WB_EXPORT(wb_free);
WB_EXPORT(wb_kernel_need_resched);
WB_EXPORT(wb_lock);
WB_EXPORT(wb_malloc);
WB_EXPORT(wb_malloc_size);
WB_EXPORT(wb_memalign);
WB_EXPORT(wb_migrate);
WB_EXPORT(wb_mutex_init);
WB_EXPORT(wb_mutex_lock);
WB_EXPORT(wb_mutex_try);
WB_EXPORT(wb_mutex_unlock);
WB_EXPORT(wb_now_ns);
WB_EXPORT(wb_param_element);
WB_EXPORT(wb_param_number);
WB_EXPORT(wb_param_text);
WB_EXPORT(wb_period_wait);
WB_EXPORT(wb_port_claim);
WB_EXPORT(wb_port_close);
WB_EXPORT(wb_port_commit);
WB_EXPORT(wb_port_count);
WB_EXPORT(wb_port_find);
WB_EXPORT(wb_port_find_any);
WB_EXPORT(wb_port_find_room);
WB_EXPORT(wb_port_hold);
WB_EXPORT(wb_port_initial);
WB_EXPORT(wb_port_is_input);
WB_EXPORT(wb_port_messages);
WB_EXPORT(wb_port_name);
WB_EXPORT(wb_port_next);
WB_EXPORT(wb_port_position);
WB_EXPORT(wb_port_rate);
WB_EXPORT(wb_port_receive);
WB_EXPORT(wb_port_release);
WB_EXPORT(wb_port_send);
WB_EXPORT(wb_port_slot_bytes);
WB_EXPORT(wb_realloc);
WB_EXPORT(wb_script_run);
WB_EXPORT(wb_semaphore_give);
WB_EXPORT(wb_semaphore_init);
WB_EXPORT(wb_semaphore_spin);
WB_EXPORT(wb_semaphore_take);
WB_EXPORT(wb_service_answer);
WB_EXPORT(wb_service_open);
WB_EXPORT(wb_service_take);
WB_EXPORT(wb_shared_free);
WB_EXPORT(wb_shared_malloc);
WB_EXPORT(wb_shared_realloc);
WB_EXPORT(wb_sleep_until);
WB_EXPORT(wb_status_text);
WB_EXPORT(wb_stopping);
WB_EXPORT(wb_task_app);
WB_EXPORT(wb_task_core);
WB_EXPORT(wb_task_exit);
WB_EXPORT(wb_task_fail);
WB_EXPORT(wb_task_find);
WB_EXPORT(wb_task_firings);
WB_EXPORT(wb_task_index);
WB_EXPORT(wb_task_is_periodic);
WB_EXPORT(wb_task_migrations);
WB_EXPORT(wb_task_name);
WB_EXPORT(wb_task_self);
WB_EXPORT(wb_task_set_state);
WB_EXPORT(wb_task_state);
WB_EXPORT(wb_unlock);
WB_EXPORT(wb_wait);
WB_EXPORT(wb_yield);

// ---- FreeRTOS -----------------------------------------------------------------------------------

#if INCLUDE_vTaskDelay == 1
WB_EXPORT(vTaskDelay);
#endif
WB_EXPORT(xTaskGetTickCount);
WB_EXPORT(xTaskGenericNotify);
WB_EXPORT(ulTaskGenericNotifyTake);
WB_EXPORT(vPortEnterCritical);
WB_EXPORT(vPortExitCritical);
WB_EXPORT(xQueueGenericCreateStatic);
WB_EXPORT(xQueueGenericSend);
WB_EXPORT(xQueueReceive);
#if configUSE_MUTEXES == 1
WB_EXPORT(xQueueCreateMutexStatic);
WB_EXPORT(xQueueSemaphoreTake);
#endif

// ---- A C library --------------------------------------------------------------------------------

// A task allocates from its own heap.
WB_EXPORT_AS(calloc, &wb_calloc);
WB_EXPORT_AS(free, &wb_free);
WB_EXPORT_AS(malloc, &wb_malloc);
WB_EXPORT_AS(realloc, &wb_realloc);

WB_EXPORT(__errno);
WB_EXPORT(memchr);
WB_EXPORT(memcmp);
WB_EXPORT(memcpy);
WB_EXPORT(memmove);
WB_EXPORT(memset);
WB_EXPORT(snprintf);
WB_EXPORT(strcat);
WB_EXPORT(strchr);
WB_EXPORT(strcmp);
WB_EXPORT(strcpy);
WB_EXPORT(strlen);
WB_EXPORT(strncat);
WB_EXPORT(strncmp);
WB_EXPORT(strncpy);
WB_EXPORT(strrchr);
WB_EXPORT(strstr);
