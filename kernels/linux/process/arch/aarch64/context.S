// SPDX-License-Identifier: Apache-2.0
// Context switch on AArch64 (AAPCS64): x19-x30, d8-d15, FPCR and FPSR.
//
// The last two are loaded only where they differ: tasks rarely change them.

    .text

    // void context_switch(void **save, void *load)
    .globl  context_switch
    .type   context_switch, %function
    .p2align 4
context_switch:
    .cfi_startproc
    sub     sp, sp, #176
    stp     x19, x20, [sp, #0]
    stp     x21, x22, [sp, #16]
    stp     x23, x24, [sp, #32]
    stp     x25, x26, [sp, #48]
    stp     x27, x28, [sp, #64]
    stp     x29, x30, [sp, #80]
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    mrs     x9, fpcr
    mrs     x12, fpsr
    stp     x9, x12, [sp, #160]
    mov     x10, sp
    str     x10, [x0]
    mov     sp, x1
    ldp     x11, x13, [sp, #160]
    cmp     x9, x11
    b.eq    1f
    msr     fpcr, x11
1:  cmp     x12, x13
    b.eq    2f
    msr     fpsr, x13
2:  ldp     x19, x20, [sp, #0]
    ldp     x21, x22, [sp, #16]
    ldp     x23, x24, [sp, #32]
    ldp     x25, x26, [sp, #48]
    ldp     x27, x28, [sp, #64]
    ldp     x29, x30, [sp, #80]
    ldp     d8, d9, [sp, #96]
    ldp     d10, d11, [sp, #112]
    ldp     d12, d13, [sp, #128]
    ldp     d14, d15, [sp, #144]
    add     sp, sp, #176
    ret
    .cfi_endproc
    .size   context_switch, . - context_switch

    // Where a new context begins: x19 holds the task. The zero in x29 and x30 ends backtraces.
    .globl  context_start
    .type   context_start, %function
context_start:
    .cfi_startproc
    .cfi_undefined x30
    mov     x0, x19
    mov     x29, xzr
    mov     x30, xzr
    bl      kernel_task_start
    brk     #1
    .cfi_endproc
    .size   context_start, . - context_start

    .section .note.GNU-stack, "", %progbits
