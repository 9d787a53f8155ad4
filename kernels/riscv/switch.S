// SPDX-License-Identifier: Apache-2.0
// Contexts of RV32 without floating point: what a call preserves, and where the C library's
// variables of a thread are. A switch is a call, so nothing else is saved.

#include "switch.h"

    .section .text.hot.context_switch, "ax"

// void context_switch(void **save, void *load)
    .globl context_switch
context_switch:
    addi sp, sp, -CONTEXT_BYTES
    sw ra, 0(sp)
    sw s0, 4(sp)
    sw s1, 8(sp)
    sw s2, 12(sp)
    sw s3, 16(sp)
    sw s4, 20(sp)
    sw s5, 24(sp)
    sw s6, 28(sp)
    sw s7, 32(sp)
    sw s8, 36(sp)
    sw s9, 40(sp)
    sw s10, 44(sp)
    sw s11, 48(sp)
    sw tp, 52(sp)
    sw sp, 0(a0)
    mv sp, a1
    lw ra, 0(sp)
    lw s0, 4(sp)
    lw s1, 8(sp)
    lw s2, 12(sp)
    lw s3, 16(sp)
    lw s4, 20(sp)
    lw s5, 24(sp)
    lw s6, 28(sp)
    lw s7, 32(sp)
    lw s8, 36(sp)
    lw s9, 40(sp)
    lw s10, 44(sp)
    lw s11, 48(sp)
    lw tp, 52(sp)
    addi sp, sp, CONTEXT_BYTES
    ret

    .text
// Where a context begins that context_make() has made.
    .globl context_begin
context_begin:
    mv a0, s0
    jalr s1
    unimp
