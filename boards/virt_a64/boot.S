// SPDX-License-Identifier: Apache-2.0
// From reset to C, and what comes from the processor's vectors. QEMU starts the first core here, in
// EL1, with the MMU off; the others begin here as well, when the first has PSCI turn them on
// (mmu_begin() of mmu.c).
//
// Tasks run in EL1 on SP_EL0; interrupts, FreeRTOS's switch and the supervisor on SP_EL1.

#include "map.h"

    .section .boot, "ax"
    .global _start
_start:
    msr     daifset, #0xf
    msr     spsel, #1
    mrs     x19, mpidr_el1
    and     x19, x19, #0xff
    // A stack of 4 KiB for each core, at the end of the memory of the page tables.
    ldr     x0, =MAP_TABLES + MAP_TABLES_MB * MAP_MB - 0x3000
    add     x0, x0, x19, lsl #12
    mov     sp, x0
    // The floating-point unit.
    mov     x0, #3 << 20
    msr     cpacr_el1, x0
    isb
    mov     x0, x19
    bl      mmu_begin
    ldr     x0, =vectors
    msr     vbar_el1, x0
    isb
    // Private memory is there now.
    ldr     x0, =main_stack_end
    mov     sp, x0
    ldr     x0, =data_begin
    ldr     x1, =data_end
    ldr     x2, =data_image
    bl      board_copy
    ldr     x0, =bss_begin
    ldr     x1, =bss_end
    bl      board_clear
    bl      library_begin
    mov     x0, x19
    b       board_main

// void board_restart(uint32_t core): as after a reset.
    .global board_restart
board_restart:
    msr     daifset, #0xf
    clrex
    ldr     x1, =main_stack_end
    mov     sp, x1
    mov     x19, x0
    bl      library_begin
    mov     x0, x19
    b       board_again

// x0: from, x1: end, x2: image; all of them multiples of 8.
    .global board_copy
board_copy:
    cmp     x0, x1
    b.hs    1f
    ldr     x3, [x2], #8
    str     x3, [x0], #8
    b       board_copy
1:  ret

    .global board_clear
board_clear:
    cmp     x0, x1
    b.hs    1f
    str     xzr, [x0], #8
    b       board_clear
1:  ret

    .macro vector to
    .balign 128
    b       \to
    .endm

    .section .text
    .balign 2048
    .global _freertos_vector_table
_freertos_vector_table:
vectors:
    vector  synchronous
    vector  FreeRTOS_IRQ_Handler
    vector  fault
    vector  fault
    vector  unanswered
    vector  FreeRTOS_IRQ_Handler
    .rept   10
    vector  fault
    .endr

// FreeRTOS saves neither FPCR nor FPSR: the C library's part of the task keeps them (library.c).
    .macro  save_modes scratch, value
    mrs     \scratch, tpidr_el0
    add     \scratch, \scratch, #:tprel_hi12:library_modes, lsl #12
    add     \scratch, \scratch, #:tprel_lo12_nc:library_modes
    mrs     \value, fpcr
    str     \value, [\scratch]
    mrs     \value, fpsr
    str     \value, [\scratch, #8]
    .endm

// Of a task: its call of FreeRTOS's switch, or a fault.
synchronous:
    stp     x0, x1, [sp, #-16]!
    mrs     x0, esr_el1
    lsr     x0, x0, #26
    cmp     x0, #0x15
    b.ne    1f
    save_modes x0, x1
    ldp     x0, x1, [sp], #16
    b       FreeRTOS_SWI_Handler
1:  ldp     x0, x1, [sp], #16
    b       fault

// int semihosting_try(int operation, const void *block)
    .global semihosting_try
semihosting_try:
    hlt     #0xf000
    ret

// Of no task: that call, if nothing answers it, which is passed over; or a fault.
unanswered:
    mrs     x2, elr_el1
    ldr     x3, =semihosting_try
    cmp     x2, x3
    b.ne    fault
    add     x2, x2, #4
    msr     elr_el1, x2
    eret

fault:
    ldr     x3, =fault_stack_end
    mov     sp, x3
    mrs     x0, esr_el1
    mrs     x1, far_el1
    mrs     x2, elr_el1
    b       board_fault

// void vApplicationIRQHandler(uint32_t acknowledged): what C does not save of the floating-point
// unit is the interrupted task's.
    .global vApplicationIRQHandler
vApplicationIRQHandler:
    stp     x29, x30, [sp, #-16]!
    mrs     x1, fpcr
    mrs     x2, fpsr
    stp     x1, x2, [sp, #-16]!
    sub     sp, sp, #32 * 16
    stp     q0, q1, [sp, #0]
    stp     q2, q3, [sp, #32]
    stp     q4, q5, [sp, #64]
    stp     q6, q7, [sp, #96]
    stp     q8, q9, [sp, #128]
    stp     q10, q11, [sp, #160]
    stp     q12, q13, [sp, #192]
    stp     q14, q15, [sp, #224]
    stp     q16, q17, [sp, #256]
    stp     q18, q19, [sp, #288]
    stp     q20, q21, [sp, #320]
    stp     q22, q23, [sp, #352]
    stp     q24, q25, [sp, #384]
    stp     q26, q27, [sp, #416]
    stp     q28, q29, [sp, #448]
    stp     q30, q31, [sp, #480]
    save_modes x1, x2
    bl      vApplicationFPUSafeIRQHandler
    ldp     q0, q1, [sp, #0]
    ldp     q2, q3, [sp, #32]
    ldp     q4, q5, [sp, #64]
    ldp     q6, q7, [sp, #96]
    ldp     q8, q9, [sp, #128]
    ldp     q10, q11, [sp, #160]
    ldp     q12, q13, [sp, #192]
    ldp     q14, q15, [sp, #224]
    ldp     q16, q17, [sp, #256]
    ldp     q18, q19, [sp, #288]
    ldp     q20, q21, [sp, #320]
    ldp     q22, q23, [sp, #352]
    ldp     q24, q25, [sp, #384]
    ldp     q26, q27, [sp, #416]
    ldp     q28, q29, [sp, #448]
    ldp     q30, q31, [sp, #480]
    add     sp, sp, #32 * 16
    ldp     x1, x2, [sp], #16
    msr     fpcr, x1
    msr     fpsr, x2
    ldp     x29, x30, [sp], #16
    ret

// void board_switch(void **save, void *load): to another stack of SP_EL1.
    .global board_switch
board_switch:
    sub     sp, sp, #BOARD_CONTEXT_BYTES
    stp     x19, x20, [sp]
    stp     x21, x22, [sp, #16]
    stp     x23, x24, [sp, #32]
    stp     x25, x26, [sp, #48]
    stp     x27, x28, [sp, #64]
    stp     x29, x30, [sp, #80]
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    mov     x2, sp
    str     x2, [x0]
    mov     sp, x1
    msr     fpcr, xzr
    ldp     x19, x20, [sp]
    ldp     x21, x22, [sp, #16]
    ldp     x23, x24, [sp, #32]
    ldp     x25, x26, [sp, #48]
    ldp     x27, x28, [sp, #64]
    ldp     x29, x30, [sp, #80]
    ldp     d8, d9, [sp, #96]
    ldp     d10, d11, [sp, #112]
    ldp     d12, d13, [sp, #128]
    ldp     d14, d15, [sp, #144]
    add     sp, sp, #BOARD_CONTEXT_BYTES
    ret
