// SPDX-License-Identifier: Apache-2.0
// Contexts: what a processor keeps of a program that has called context_switch(). Each has
// variables of the C library of its own (errno), at the top of its stack: they go where the stack
// goes.
#ifndef WB_RISCV_SWITCH_H
#define WB_RISCV_SWITCH_H

#define CONTEXT_BYTES 64

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>

/// Writes the first context onto an empty stack: it calls `entry` with `argument`, which must not
/// return.
///
/// Returns: it, for context_switch(); NULL if the stack is too small for any.
void *context_make(void *stack, size_t bytes, void (*entry)(void *argument), void *argument);

/// Saves the context that calls in `*save`, and goes on with another. Returns when somebody goes on
/// with that one.
void context_switch(void **save, void *load);

/// The bytes at the top of each stack that are the C library's.
size_t context_library_bytes(void);
#endif

#endif
