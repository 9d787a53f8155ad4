// SPDX-License-Identifier: Apache-2.0
// The first instructions of every core. Ibex's vectors are at the start of the RAM, and it begins
// 0x80 bytes behind them.

#define STACK_BYTES 4096

    .section .text.start, "ax"
    .option norvc
    .globl vectors
vectors:
    .rept 32
    j trap
    .endr

reset:
    la t0, vectors + 1
    csrw mtvec, t0
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    csrr a0, mhartid
    la sp, stacks
    addi t0, a0, 1
    li t1, STACK_BYTES
    mul t0, t0, t1
    add sp, sp, t0
    la t0, zeroed
    bnez a0, wait

    la t1, __bss_start
    la t2, __bss_end
zero:
    bgeu t1, t2, zero_done
    sw zero, 0(t1)
    addi t1, t1, 4
    j zero
zero_done:
    li t1, 1
    sw t1, 0(t0)

wait:
    lw t1, 0(t0)
    beqz t1, wait
    call core_main
stop:
    wfi
    j stop

    .section .shared, "aw"
    .balign 16
zeroed:
    .word 0

    .section .stacks, "aw", @nobits
    .balign 16
stacks:
    .space 4 * STACK_BYTES
