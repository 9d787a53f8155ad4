// SPDX-License-Identifier: Apache-2.0
// What each core does after booting: the first runs main(), the others wait for work.

#include <stdlib.h>
#include <string.h>

#include "arm_board.h"
#include "map.h"
#include "semihosting.h"

int main(int argc, char **argv);
void __libc_init_array(void);

extern unsigned char gvm_data_begin[], gvm_data_end[], gvm_data_image[], gvm_begin[], gvm_end[];
extern unsigned char kernel_data_begin[], kernel_data_end[], kernel_data_image[];
extern unsigned char kernel_bss_begin[], kernel_bss_end[];
void board_copy(void *to, void *end, const void *image);
void board_clear(void *from, void *end);

// Beside the page tables, where a core that is fenced off sees it, too.
struct start {
    volatile uint32_t life, count;
    void (*volatile entry)(uint32_t core);
    volatile uint32_t stopped[MAP_CORES];  // 1 + the life that it waits for the end of
};
static struct start *const start = (struct start *)MAP_START;

void board_reset_kernel(void)
{
    board_copy(kernel_data_begin, kernel_data_end, kernel_data_image);
    board_clear(kernel_bss_begin, kernel_bss_end);
    if (pages_reset != NULL)
        pages_reset();
}

_Noreturn void board_again(uint32_t core)
{
    for (;;) {
        const uint32_t life = start->life;

        gic_core(core);
        start->stopped[core] = 1 + life;
        // A doorbell wakes it; interrupts are not taken here, but passed over.
        while (start->life == life) {
            __asm__ volatile("dsb sy\n wfi" ::: "memory");
            gic_core(core);
        }
        __asm__ volatile("dsb sy" ::: "memory");
        if (core >= start->count)
            continue;
        start->stopped[core] = 0;
        board_reset_kernel();
        gic_core(core);
        start->entry(core);
    }
}

void board_reset_first(void)
{
    board_reset_kernel();
    gic_core(0);
}

void board_start_others(uint32_t count, void (*entry)(uint32_t core))
{
    files_reset();
    for (uint32_t i = 1; i < count; i++)
        mmu_unfence(i);
    start->entry = entry;
    start->count = count;
    __asm__ volatile("dsb sy" ::: "memory");
    start->life++;
    for (uint32_t i = 1; i < MAP_CORES; i++)
        gic_ring(i);
}

void board_kill(uint32_t core)
{
    mmu_fence(core);
    gic_stop(core);
}

// The clock of an emulated board goes on while its host lets a core wait for a processor. So one
// that comes has time for it, and one that does not exist is not waited for.
bool board_waits(uint32_t core)
{
    const uint64_t longest_ns = 5000000000, until_ns = board_now_ns() + longest_ns;

    if (!processor_has_core(core))
        return false;
    while (start->stopped[core] != 1 + start->life) {
        if (board_now_ns() > until_ns)
            return false;
        board_relax();
    }
    return true;
}

_Noreturn void board_main(uint32_t core)
{
    static char words[256], *argv[8];

    if (core != 0)
        board_again(core);
    board_copy(gvm_data_begin, gvm_data_end, gvm_data_image);
    board_clear(gvm_begin, gvm_end);
    semihosting_begin();
    // Before the clock is found out: what is wrong with it can be told.
    uart_begin();
    __libc_init_array();
    gic_core(core);
    processor_irq_enable();
    exit(main(semihosting_arguments(words, sizeof words, argv, 8), argv));
}

uint32_t board_cores(void)
{
    return MAP_CORES;
}
