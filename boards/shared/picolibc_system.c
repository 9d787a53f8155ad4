// SPDX-License-Identifier: Apache-2.0
// What picolibc asks of a system, besides files.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/lock.h>
#include <unistd.h>

#include "board.h"
#include "picolibc_system.h"
#include "wb/word.h"

enum { HEAP_BYTES = 512 << 10 };

// ---- What is printed, a line at a time
// -----------------------------------------------------------

static void write_line(struct line *line)
{
    write(STDOUT_FILENO, line->text, line->bytes);
    line->bytes = 0;
}

static int put_char(char byte, FILE *file)
{
    struct line *line = library_line();

    (void)file;
    line->text[line->bytes++] = byte;
    if (byte == '\n' || line->bytes == sizeof line->text)
        write_line(line);
    return (unsigned char)byte;
}

static int flush(FILE *file)
{
    (void)file;
    write_line(library_line());
    return 0;
}

static FILE console = FDEV_SETUP_STREAM(put_char, NULL, flush, _FDEV_SETUP_WRITE);

FILE *const stdin = &console;
FILE *const stdout = &console;
FILE *const stderr = &console;

// Nothing else can be written.
int dprintf(int file, const char *format, ...)
{
    va_list values;

    if (file != STDOUT_FILENO && file != STDERR_FILENO) {
        errno = EBADF;
        return -1;
    }
    va_start(values, format);
    const int bytes = vfprintf(stdout, format, values);
    va_end(values);
    return bytes;
}

// ---- Locks --------------------------------------------------------------------------------------

// The heap may be that of all cores, and a launcher may interrupt the first: so whoever has the
// lock keeps interrupts away. One that is held in reset holds nothing any more.
static struct {
    struct wb_compared holder;  // core + 1, 0: nobody; who holds it stores it
    uint32_t depth, irq_state;  // the holder's
} lock;

void __retarget_lock_acquire_recursive(_LOCK_T unused)
{
    const uint32_t irq_state = board_irq_save(), self = library_core() + 1;
    uint32_t holder = 0;

    (void)unused;
    if (wb_word_load(&lock.holder, WB_RELAXED) == self) {
        lock.depth++;
        return;
    }
    while (!wb_word_compare_swap(&lock.holder, &holder, self, WB_ACQUIRE, WB_RELAXED))
        holder = 0;
    lock.depth = 1;
    lock.irq_state = irq_state;
}

void __retarget_lock_release_recursive(_LOCK_T unused)
{
    (void)unused;
    if (--lock.depth != 0)
        return;
    const uint32_t irq_state = lock.irq_state;
    wb_word_store(&lock.holder, 0, WB_RELEASE);
    board_irq_restore(irq_state);
}

void library_let_go(uint32_t core)
{
    if (wb_word_load(&lock.holder, WB_ACQUIRE) == core + 1)
        wb_word_store(&lock.holder, 0, WB_RELEASE);
}

struct __lock {
    char unused;
};
struct __lock __lock___libc_recursive_mutex;

// Those of streams: a stream is one task's.
void __retarget_lock_init(_LOCK_T *unused)
{
    *unused = &__lock___libc_recursive_mutex;
}

void __retarget_lock_close(_LOCK_T unused)
{
    (void)unused;
}

void __retarget_lock_acquire(_LOCK_T unused)
{
    (void)unused;
}

void __retarget_lock_release(_LOCK_T unused)
{
    (void)unused;
}

// ---- The rest -----------------------------------------------------------------------------------

void *sbrk(ptrdiff_t bytes)
{
    static _Alignas(16) char heap[HEAP_BYTES] __attribute__((noinit));
    static ptrdiff_t used;

    if (bytes > HEAP_BYTES - used) {
        errno = ENOMEM;
        return (void *)-1;
    }
    used += bytes;
    return heap + used - bytes;
}

int kill(pid_t process, int number)
{
    (void)process;
    (void)number;
    return -1;
}

// Of each kernel: there is no other process.
pid_t getpid(void)
{
    return 1 + (pid_t)library_core();
}
