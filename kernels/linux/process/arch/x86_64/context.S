// SPDX-License-Identifier: Apache-2.0
// Context switch on x86-64 (System V ABI): callee-saved registers, MXCSR and the x87 control word.
//
// The control words are loaded only where they differ: loading them costs more than the rest of the
// switch, and tasks rarely change them. It returns by `ret`: a jump would leave the call that came
// here on the processor's stack of predicted returns, and each later return of the task would be
// mispredicted. Under user-mode shadow stacks neither would do; Linux arms them only for programs
// all objects of which are marked for them, and this one is not.

    .intel_syntax noprefix
    .text

    // void context_switch(void **save, void *load)
    .globl  context_switch
    .type   context_switch, @function
    .p2align 4
context_switch:
    .cfi_startproc
    push    rbp
    push    rbx
    push    r12
    push    r13
    push    r14
    push    r15
    sub     rsp, 8
    stmxcsr [rsp]
    fnstcw  [rsp + 4]
    mov     eax, [rsp]
    movzx   ecx, word ptr [rsp + 4]
    mov     [rdi], rsp
    mov     rsp, rsi
    cmp     eax, [rsp]
    jne     1f
2:  cmp     cx, [rsp + 4]
    jne     3f
4:  add     rsp, 8
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     rbx
    pop     rbp
    ret
1:  ldmxcsr [rsp]
    jmp     2b
3:  fldcw   [rsp + 4]
    jmp     4b
    .cfi_endproc
    .size   context_switch, . - context_switch

    // Where a new context begins: r12 holds the task. The zero above it ends backtraces.
    .globl  context_start
    .type   context_start, @function
context_start:
    .cfi_startproc
    .cfi_undefined rip
    sub     rsp, 8
    mov     rdi, r12
    call    kernel_task_start
    ud2
    .cfi_endproc
    .size   context_start, . - context_start

    .section .note.GNU-stack, "", @progbits
