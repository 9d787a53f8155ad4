// SPDX-License-Identifier: Apache-2.0
// What a core does first after each reset, and where interrupts and exceptions enter.

#include "rv32_soc.h"

#define MSECCFG 0x747
#define FRAME_BYTES 80

    .section .boot, "ax"
    .option norvc
    .globl vectors
// Of Ibex: exceptions, and then a vector for each interrupt.
vectors:
    j exception
    .rept 31
    j interrupt
    .endr

reset:
    la t0, vectors + 1
    csrw mtvec, t0
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop

    // The rule of the guard below a stack may be changed, though it is for this mode (locked).
    csrwi MSECCFG, 4
    csrw pmpaddr0, zero
    li t0, 0x98
    csrw pmpcfg0, t0

    la t0, private_begin
    la t1, private_end
    call zero
    csrr s0, mhartid
    la sp, boot_stacks
    addi t0, s0, 1
    li t1, BOOT_STACK_BYTES
    mul t0, t0, t1
    add sp, sp, t0
    bnez s0, 1f
    la t0, bss_begin
    la t1, bss_end
    call zero
1:  mv a0, s0
    j board_begin

// From t0 to t1, which are multiples of 16: a line of the bus each time.
zero:
    bgeu t0, t1, 1f
    sw zero, 0(t0)
    sw zero, 4(t0)
    sw zero, 8(t0)
    sw zero, 12(t0)
    addi t0, t0, 16
    j zero
1:  ret

    .option rvc
    .text
// Registers that a call does not preserve, and where the interrupted program is. It may be long
// until it goes on: a program of the first core takes the place of another here.
    .balign 4
interrupt:
    addi sp, sp, -FRAME_BYTES
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw t3, 16(sp)
    sw t4, 20(sp)
    sw t5, 24(sp)
    sw t6, 28(sp)
    sw a0, 32(sp)
    sw a1, 36(sp)
    sw a2, 40(sp)
    sw a3, 44(sp)
    sw a4, 48(sp)
    sw a5, 52(sp)
    sw a6, 56(sp)
    sw a7, 60(sp)
    csrr t0, mepc
    csrr t1, mstatus
    sw t0, 64(sp)
    sw t1, 68(sp)
    csrr a0, mcause
    call board_interrupt
    lw t0, 64(sp)
    lw t1, 68(sp)
    csrw mepc, t0
    csrw mstatus, t1
    lw ra, 0(sp)
    lw t0, 4(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw t3, 16(sp)
    lw t4, 20(sp)
    lw t5, 24(sp)
    lw t6, 28(sp)
    lw a0, 32(sp)
    lw a1, 36(sp)
    lw a2, 40(sp)
    lw a3, 44(sp)
    lw a4, 48(sp)
    lw a5, 52(sp)
    lw a6, 56(sp)
    lw a7, 60(sp)
    addi sp, sp, FRAME_BYTES
    mret

// Nobody goes on from one. Its stack is private memory: that of a task may be what has failed. The
// rule of the guard is for nothing any more.
exception:
    csrw pmpaddr0, zero
    la sp, fault_stack_end
    csrr a0, mcause
    csrr a1, mtval
    csrr a2, mepc
    j board_fault

    .section .boot_stacks, "aw", @nobits
    .balign 16
boot_stacks:
    .space BOOT_STACK_BYTES * BOARD_CORES
