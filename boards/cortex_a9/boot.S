// SPDX-License-Identifier: Apache-2.0
// From reset to C, and what comes from the processor's vectors. All cores start here, secure,
// in SVC mode, with the MMU and the data cache off: at the same time, or the first before the
// others, which it releases (secondary.h).

#include "map.h"

    .syntax unified
    .arm
    .arch armv7-a
    .fpu neon

    .section .boot, "ax"
    .global _start
_start:
    cpsid   aif, #0x13
    mrc     p15, 0, r4, c0, c0, 5
    and     r4, r4, #3
    // A stack of 4 KiB for each core, at the end of the megabyte of the page tables.
    ldr     sp, =MAP_TABLES + MAP_MB - 0x4000
    add     sp, sp, r4, lsl #12
    add     sp, sp, #0x1000
    // After a reset the L1 data cache contains anything, so it is invalidated, by set and way: it
    // has four ways, and lines of 32 bytes.
    mov     r0, #0
    mcr     p15, 2, r0, c0, c0, 0
    isb
    mrc     p15, 1, r0, c0, c0, 0
    ubfx    r0, r0, #13, #15    // the last set
1:  lsl     r1, r0, #5
2:  mcr     p15, 0, r1, c7, c6, 2
    adds    r1, r1, #0x40000000
    bcc     2b
    subs    r0, r0, #1
    bpl     1b
    dsb
    mov     r0, r4
    bl      mmu_tables
    // SMP and broadcasts of cache maintenance; then nothing old in TLBs, caches and predictors.
    mrc     p15, 0, r0, c1, c0, 1
    orr     r0, r0, #0x41
    mcr     p15, 0, r0, c1, c0, 1
    mov     r0, #0
    mcr     p15, 0, r0, c8, c7, 0
    mcr     p15, 0, r0, c7, c5, 0
    mcr     p15, 0, r0, c7, c5, 6
    mcr     p15, 0, r0, c2, c0, 2
    mov     r0, #1
    mcr     p15, 0, r0, c3, c0, 0
    ldr     r0, =MAP_TABLES + 0x4a  // what walks them is shareable, write-back
    add     r0, r0, r4, lsl #14
    mcr     p15, 0, r0, c2, c0, 0
    ldr     r0, =vectors
    mcr     p15, 0, r0, c12, c0, 0
    // The floating-point unit.
    mrc     p15, 0, r0, c1, c0, 2
    orr     r0, r0, #0xf00000
    mcr     p15, 0, r0, c1, c0, 2
    isb
    mov     r0, #0x40000000
    vmsr    fpexc, r0
    dsb
    mrc     p15, 0, r0, c1, c0, 0
    ldr     r1, =0x1805
    orr     r0, r0, r1
    mcr     p15, 0, r0, c1, c0, 0
    isb
    // Private memory is there now.
    cps     #0x12
    ldr     sp, =irq_stack_end
    cps     #0x17
    ldr     sp, =fault_stack_end
    cps     #0x1b
    ldr     sp, =fault_stack_end
    cps     #0x13
    ldr     sp, =main_stack_end
    ldr     r0, =data_begin
    ldr     r1, =data_end
    ldr     r2, =data_image
    bl      board_copy
    ldr     r0, =bss_begin
    ldr     r1, =bss_end
    bl      board_clear
    mov     r0, r4
    b       board_main

// void board_restart(uint32_t core): as after a reset.
    .global board_restart
board_restart:
    cpsid   aif, #0x13
    clrex
    ldr     sp, =main_stack_end
    b       board_again

// r0: from, r1: end, r2: image.
    .global board_copy
board_copy:
    cmp     r0, r1
    ldrlo   r3, [r2], #4
    strlo   r3, [r0], #4
    blo     board_copy
    bx      lr

    .global board_clear
board_clear:
    mov     r2, #0
1:  cmp     r0, r1
    strlo   r2, [r0], #4
    blo     1b
    bx      lr

    .section .text
    .balign 32
vectors:
    b       _start
    b       undefined
    ldr     pc, =FreeRTOS_SWI_Handler
    b       prefetch
    b       data
    b       .
    ldr     pc, =FreeRTOS_IRQ_Handler
    b       .

// Where a call of semihosting arrives if nothing answers it: it returns.
    .balign 32
unanswered:
    .rept   8
    movs    pc, lr
    .endr

// int semihosting_try(int operation, const void *block)
    .global semihosting_try
semihosting_try:
    push    {r4, lr}
    ldr     r2, =unanswered
    mcr     p15, 0, r2, c12, c0, 0
    isb
    svc     #0x123456
    ldr     r2, =vectors
    mcr     p15, 0, r2, c12, c0, 0
    isb
    pop     {r4, pc}

undefined:
    ldr     sp, =fault_stack_end
    sub     r1, lr, #4
    mov     r2, r1
    mov     r0, #0
    b       board_fault

prefetch:
    ldr     sp, =fault_stack_end
    sub     r1, lr, #4
    mov     r2, r1
    mov     r0, #1
    b       board_fault

data:
    ldr     sp, =fault_stack_end
    mrc     p15, 0, r1, c6, c0, 0
    sub     r2, lr, #8
    mov     r0, #2
    b       board_fault

// void board_switch(void **save, void *load): to another stack of SVC mode.
    .global board_switch
board_switch:
    push    {r4-r11, lr}
    vpush   {d8-d15}
    mov     r2, #0
    vmsr    fpscr, r2
    str     sp, [r0]
    mov     sp, r1
    vpop    {d8-d15}
    pop     {r4-r11, pc}
