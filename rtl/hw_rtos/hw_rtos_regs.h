// SPDX-License-Identifier: Apache-2.0
// The registers of the HW-RTOS for C: the numbers of rtos_pkg.sv, which a test compares.
// Offsets are in bytes from the unit's address, which is the same for every core.
#ifndef HW_RTOS_REGS_H
#define HW_RTOS_REGS_H

#define HW_RTOS_CALL_RTOS 0x000U
#define HW_RTOS_WAIT_PORT 0x004U
#define HW_RTOS_NEXT_TASK 0x008U
#define HW_RTOS_SAVED 0x00CU
#define HW_RTOS_CURRENT 0x010U
#define HW_RTOS_STATUS 0x014U
#define HW_RTOS_ERRORS 0x018U
#define HW_RTOS_CONTROL 0x01CU
#define HW_RTOS_SLICE 0x020U
#define HW_RTOS_PATIENCE 0x024U
#define HW_RTOS_INFO 0x028U

// Of task or port n, at 4 * n bytes from here.
#define HW_RTOS_TASK_CONFIG 0x100U
#define HW_RTOS_TASK_STATE 0x200U
#define HW_RTOS_PORT_CONFIG 0x300U
#define HW_RTOS_SEND 0x400U
#define HW_RTOS_SEND_MORE 0x500U
#define HW_RTOS_SEND_NOW 0x600U
#define HW_RTOS_SEND_NOW_MORE 0x700U
#define HW_RTOS_RECEIVE 0x800U
#define HW_RTOS_PORT_STATE 0x900U

// Of HW_RTOS_NEXT_TASK and HW_RTOS_CURRENT: there is none. A negative number, so one branch tells.
#define HW_RTOS_NO_TASK 0x80000000U

#ifndef __ASSEMBLER__

// Of HW_RTOS_CALL_RTOS.
enum hw_rtos_call {
    HW_RTOS_CALL_BLOCK = 0,
    HW_RTOS_CALL_YIELD = 1,
    HW_RTOS_CALL_PREEMPT = 2,
    HW_RTOS_CALL_EXIT = 3
};

// Of HW_RTOS_STATUS.
enum hw_rtos_status {
    HW_RTOS_STATUS_OK = 0,
    HW_RTOS_STATUS_EMPTY = 1,
    HW_RTOS_STATUS_FULL = 2,
    HW_RTOS_STATUS_BUSY = 3,
    HW_RTOS_STATUS_TOO_LONG = 4,
    HW_RTOS_STATUS_BAD_PORT = 5,
    HW_RTOS_STATUS_BAD_TASK = 6,
    HW_RTOS_STATUS_ORDER = 7,
    HW_RTOS_STATUS_NO_TASK = 8  // also of a send by a task that was retired while it runs
};

// Of bits 1 and 0 of HW_RTOS_PORT_STATE.
enum hw_rtos_send {
    HW_RTOS_SEND_EMPTY = 0,
    HW_RTOS_SEND_OPEN = 1,
    HW_RTOS_SEND_HELD = 2,
    HW_RTOS_SEND_DUE = 3
};

#endif

#define HW_RTOS_CONTROL_PRIORITY 0x1U
#define HW_RTOS_CONTROL_SLICE 0x2U

#define HW_RTOS_TASK_VALID 0x1U
#define HW_RTOS_TASK_PREFERS_LAST 0x2U
#define HW_RTOS_TASK_PRIORITY_SHIFT 8
#define HW_RTOS_TASK_AFFINITY_SHIFT 16

#define HW_RTOS_STATE_VALID 0x1U
#define HW_RTOS_STATE_RUNNING 0x2U
#define HW_RTOS_STATE_WAITING 0x4U
#define HW_RTOS_STATE_UNSAVED 0x8U

#define HW_RTOS_PORT_IMMEDIATE 0x1U
#define HW_RTOS_PORT_MESSAGE 0x4U

#endif
