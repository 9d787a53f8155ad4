// SPDX-License-Identifier: Apache-2.0
// Compiled at the end of FreeRTOS's tasks.c, too: what whimbrel_freertos.h hooks into FreeRTOS's
// functions for a task, which may have moved.

#include "freertos_board.h"
#include "tcb.h"
#include "wb/wb.h"

// A macro that is defined again after whimbrel_freertos.h, as trace recorders do, takes a hook away
// unless it contains what ours has.
#define WB_TEXT_OF(text) #text
#define WB_TEXT(expansion) WB_TEXT_OF(expansion)
#define WB_HOOKED(macro, hook)                                                                     \
    _Static_assert(__builtin_strstr(WB_TEXT(macro), hook) != 0,                                    \
                   "defined again after whimbrel_freertos.h, which takes it: " #macro)

WB_HOOKED(traceTASK_SWITCHED_OUT(), "wb_freertos_out");
WB_HOOKED(traceTASK_SWITCHED_IN(), "wb_freertos_in");
WB_HOOKED(traceTASK_DELETE(a), "wb_freertos_deleted");
WB_HOOKED(traceENTER_vTaskDelete(a), "wb_tcb_call");
WB_HOOKED(traceENTER_vTaskPrioritySet(a, b), "wb_tcb_call");
WB_HOOKED(traceENTER_vTaskSuspend(a), "wb_tcb_call");
WB_HOOKED(traceENTER_vTaskResume(a), "wb_tcb_call");
WB_HOOKED(traceENTER_xTaskAbortDelay(a), "wb_tcb_call");
WB_HOOKED(traceENTER_eTaskGetState(a), "wb_tcb_call");
WB_HOOKED(traceENTER_xTaskGenericNotify(a, b, c, d, e), "wb_tcb_call");
WB_HOOKED(traceENTER_xTaskGenericNotifyStateClear(a, b), "wb_tcb_call");
WB_HOOKED(traceENTER_ulTaskGenericNotifyValueClear(a, b, c), "wb_tcb_call");
WB_HOOKED(traceENTER_xTaskResumeFromISR(a), "wb_tcb_check");
WB_HOOKED(traceENTER_xTaskGenericNotifyFromISR(a, b, c, d, e, f), "wb_tcb_check");
WB_HOOKED(traceENTER_vTaskGenericNotifyGiveFromISR(a, b, c), "wb_tcb_check");
WB_HOOKED(traceENTER_xTaskRemoveFromEventList(a), "wb_tcb_check");
WB_HOOKED(traceENTER_vTaskRemoveFromUnorderedEventList(a, b), "wb_tcb_check");
WB_HOOKED(traceENTER_xTaskPriorityInherit(a), "wb_tcb_check");
// What begins a critical section, and no end of it, would keep interrupts away for ever.
WB_HOOKED(traceRETURN_vTaskDelete(), WB_TEXT(taskEXIT_CRITICAL()));
WB_HOOKED(traceRETURN_vTaskPrioritySet(), WB_TEXT(taskEXIT_CRITICAL()));
WB_HOOKED(traceRETURN_vTaskSuspend(), WB_TEXT(taskEXIT_CRITICAL()));
WB_HOOKED(traceRETURN_vTaskResume(), WB_TEXT(taskEXIT_CRITICAL()));
WB_HOOKED(traceRETURN_xTaskAbortDelay(a), WB_TEXT(taskEXIT_CRITICAL()));
WB_HOOKED(traceRETURN_eTaskGetState(a), WB_TEXT(taskEXIT_CRITICAL()));
WB_HOOKED(traceRETURN_xTaskGenericNotify(a), WB_TEXT(taskEXIT_CRITICAL()));
WB_HOOKED(traceRETURN_xTaskGenericNotifyStateClear(a), WB_TEXT(taskEXIT_CRITICAL()));
WB_HOOKED(traceRETURN_ulTaskGenericNotifyValueClear(a), WB_TEXT(taskEXIT_CRITICAL()));
#if configGENERATE_RUN_TIME_STATS == 1
WB_HOOKED(traceRETURN_ulTaskGetRunTimeCounter(a), "wb_tcb_run_time");
#endif

void wb_tcb_check(const void *handle, const char *call)
{
    const TCB_t *const tcb = handle;

    // Its list pointers would be taken for this kernel's, whose lists are at the same addresses.
    if (tcb != NULL && tcb->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER] != NULL)
        wb_freertos_check(tcb->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER], handle, call);
}

void wb_tcb_call(const void *handle, const char *call)
{
    taskENTER_CRITICAL();
    wb_tcb_check(handle, call);
}

#if configGENERATE_RUN_TIME_STATS == 1
struct run {
    const void *current;
    configRUN_TIME_COUNTER_TYPE counted, since;
};

static configRUN_TIME_COUNTER_TYPE run_time_now(void)
{
    configRUN_TIME_COUNTER_TYPE now;

#ifdef portALT_GET_RUN_TIME_COUNTER_VALUE
    portALT_GET_RUN_TIME_COUNTER_VALUE(now);
#else
    now = portGET_RUN_TIME_COUNTER_VALUE();
#endif
    return now;
}

static struct run run_of(const TCB_t *tcb, const volatile void *current, const volatile void *since)
{
    const struct run run = {
        .current = *(TCB_t *const volatile *)current,
        .counted = *(const volatile configRUN_TIME_COUNTER_TYPE *)&tcb->ulRunTimeCounter,
        .since = *(const volatile configRUN_TIME_COUNTER_TYPE *)since,
    };

    wb_word_fence(WB_ACQUIRE);
    return run;
}

// The other kernel's variables, in its private memory. Its switch counts what the task has run for
// and then begins anew, so what is read is read twice: the same both times, it is of one run.
unsigned long long wb_tcb_run_time(const void *handle, unsigned long long here)
{
    const TCB_t *const tcb = handle;
    const uint32_t core =
        tcb != NULL
            ? wb_freertos_is_elsewhere(tcb->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER])
            : WB_CORE_NONE;
    const void *current, *since;
    struct run run, again;

    if (core == WB_CORE_NONE)
        return here;
    current = board_private(core, (const void *)&pxCurrentTCB);
    since = board_private(core, (const void *)&ulTaskSwitchedInTime[0]);
    if (current == NULL || since == NULL)
        return here;
    run = run_of(tcb, current, since);
    do {
        again = run;
        run = run_of(tcb, current, since);
    } while (run.current != again.current || run.counted != again.counted ||
             run.since != again.since);
    return run.counted + (run.current == tcb ? run_time_now() - run.since : 0);
}
#endif
