# SPDX-License-Identifier: Apache-2.0
# The switch of the tasks of the HW-RTOS. What a task stores of itself is where it goes on, and its
# stack; where it goes on it fetches what else it has stored. So a call that may change every
# register stores these two words (hw_wait_here), and one of C's stores 15 (hw_wait).
#
# The hardware picks the next task first, since a core waits at a device until its stores are done.
# `saved` comes last: they go out while the next context comes in. It is written by the first
# instruction, or the last, of who goes on; after the idle loop, which has written it, by nobody.
#
#   a5 the HW-RTOS, a4 the TCM, a3 the context of the task that waits, a1 that of the next
#include "hw_rtos_regs.h"

#define RTOS 0x20000
#define TCM 0x10000
#define CONTEXT 4  // in the TCM: the context of the core's task
#define WAKES 0x10  // of mie: bit 16
#define SCRAP HW_RTOS_SAVED
#define PC 0  // of a context
#define SP 4

#ifdef STAMPS  // mcycle at some places, for switch.c
#define STAMP(n) csrr t2, mcycle; sw t2, (16 + 4 * n)(a4)
#else
#define STAMP(n)
#endif

    // Blocks at port a0, and finds out what is next: a2.
    .macro block
    lui a5, RTOS
    lui a4, TCM
    STAMP(0)
    sw a0, HW_RTOS_WAIT_PORT(a5)
    sw zero, HW_RTOS_CALL_RTOS(a5)
    lw a3, CONTEXT(a4)
    lw a2, HW_RTOS_NEXT_TASK(a5)
    STAMP(1)
    .endm

    // The context of task a2: a1.
    .macro context_of
    slli a2, a2, 6
    la a1, hw_contexts
    add a1, a1, a2
    .endm

    .macro save
    sw t0, PC(a3)
    sw sp, SP(a3)
    .endm

    .macro save_all
    save
    sw ra, 8(a3)
    sw s0, 12(a3)
    sw s1, 16(a3)
    sw s2, 20(a3)
    sw s3, 24(a3)
    sw s4, 28(a3)
    sw s5, 32(a3)
    sw s6, 36(a3)
    sw s7, 40(a3)
    sw s8, 44(a3)
    sw s9, 48(a3)
    sw s10, 52(a3)
    sw s11, 56(a3)
    .endm

    .text
    .balign 16

# Called by `jal t0`: waits until there is a message in port a0. All but sp, gp and tp changes.
    .globl hw_wait_here
hw_wait_here:
    block
    bltz a2, nothing_here
    context_of
    beq a1, a3, same_here
    sw a1, CONTEXT(a4)
    save
go_on:
    STAMP(2)
    lw t0, PC(a1)
    lw sp, SP(a1)
    jr t0
same_here:
    jr 4(t0)
nothing_here:
    save
    j idle

# void hw_wait(uint32_t port): the same by the rules of C.
    .balign 16
    .globl hw_wait
hw_wait:
    block
    bltz a2, nothing
    context_of
    beq a1, a3, same
    sw a1, CONTEXT(a4)
    la t0, resume
    save_all
    j go_on
same:
    ret
nothing:
    la t0, resume
    save_all
    j idle

    .balign 16
resume:
    .option push
    .option norvc
    mv a4, a5  // not after the idle loop: what is written below goes to the TCM then
    .option pop
    lw ra, 8(a1)
    lw s0, 12(a1)
    lw s1, 16(a1)
    lw s2, 20(a1)
    lw s3, 24(a1)
    lw s4, 28(a1)
    lw s5, 32(a1)
    lw s6, 36(a1)
    lw s7, 40(a1)
    lw s8, 44(a1)
    lw s9, 48(a1)
    lw s10, 52(a1)
    lw s11, 56(a1)
    sw zero, SCRAP(a4)
    ret

# Without a task: sleeps until there is one.
    .balign 16
    .globl hw_idle
hw_idle:
    lui a5, RTOS
    lui a4, TCM
    j look
idle:
    sw zero, HW_RTOS_SAVED(a5)
    // The scheduler's interrupt makes the core awake, and is taken nowhere.
look:
    csrci mstatus, 8
    lui a0, WAKES
    csrs mie, a0
    lw a2, HW_RTOS_NEXT_TASK(a5)
    bgez a2, found
    wfi
    csrr a3, mip
    andi a3, a3, 0x80
    beqz a3, look
    j end
found:
    csrc mie, a0
    csrsi mstatus, 8
    context_of
    sw a1, CONTEXT(a4)
    lw t0, PC(a1)
    lw sp, SP(a1)
    jr 4(t0)

# The timer is all that interrupts tasks; the program ends on a stack of its own, for that of the
# task may go on elsewhere.
    .globl trap
trap:
    csrr a0, mcause
    li a1, 0x80000007
    beq a0, a1, end
    csrr a1, mepc
    csrr a2, mtval
    la sp, end_stack
    j hw_trapped
end:
    la sp, end_stack
    j program_end

# Where a task begins: above its stack are its function and the argument.
    .globl hw_first
hw_first:
    sw zero, HW_RTOS_SAVED(a5)
    lw a0, 4(sp)
    lw t0, 0(sp)
    jalr t0
    j rtos_exit

    .bss
    .balign 16
    .space 1024
end_stack:
