// SPDX-License-Identifier: Apache-2.0
// What the measured programs need of an operating system: tasks, and ports of two messages each.
// The folder hw_rtos has them in hardware; freertos has them in software, on one core. os.h has
//
//   rtos_send(port, message, words)     whoever waits for the message has it at once
//   rtos_receive(port, message, words)  blocks until there is one
//   RTOS_SEND_WAITS                     a send to a port with two messages waits for room;
//                                       where it does not, who sends must know that there is room
#ifndef RTOS_H
#define RTOS_H

#include <stdbool.h>
#include <stdint.h>

#include "os.h"

enum { RTOS_TASKS = 16, RTOS_PORT_MESSAGES = 2, RTOS_CORE_ALL = 0xF };

/// Of the program: the model has too few ports or words of a message; an exception came.
enum { RTOS_TOO_SMALL = 3, RTOS_TRAPPED = 4 };

typedef void rtos_entry(void *argument);

/// The program: core 0 calls it, before anything else runs. It creates the ports and the tasks.
void program_setup(void);

/// Creates a port whose messages have so many words.
///
/// Context: program_setup().
/// Returns: its number.
uint32_t rtos_port(uint32_t words);

/// Creates a task that may run on the cores of the mask, which software ignores.
///
/// Context: program_setup().
void rtos_task(rtos_entry *entry, void *argument, void *stack, uint32_t stack_bytes,
               uint32_t cores);

/// Tasks that are created from now on prefer the core where they were, for so long.
///
/// Context: program_setup().
void rtos_prefer_last(uint32_t patience_cycles);

/// Ends the task.
///
/// Context: a task.
__attribute__((noreturn)) void rtos_exit(void);

/// Lets program_end() interrupt core 0 after so many cycles.
///
/// Context: program_setup().
void rtos_end_after(uint32_t cycles);
__attribute__((noreturn)) void program_end(void);

#endif
