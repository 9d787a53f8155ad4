// SPDX-License-Identifier: Apache-2.0
// How does a task keep its state when its core is killed?
//
//     make -C examples/survive &&
//         bin/whimbrel run examples/survive/app.toml --cores 0,1
//
// `checkpoint_every` in app.toml has the kernels keep images of the counter's stack and heap. When
// its kernel is killed, it resumes on another one from the last image. The run reports the death
// and has exit status 2.
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "wb/wb.h"

enum { NUMBERS = 100, KILLED_AT = 50 };

struct counted {
    uint32_t number, core;
};

static bool killed;  // a global is in no image: the second life sees what the first one wrote

int counter(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(struct counted));

    for (uint32_t n = 0; n < NUMBERS; n++) {  // `n` is on the stack, so it is in the image
        wb_checkpoint();
        if (n == KILLED_AT && !killed) {
            killed = true;
            raise(SIGKILL);  // the process is the kernel of this core
        }
        const struct counted counted = { n, wb_task_core(self) };
        if (wb_port_send(out, &counted, WB_FOREVER) != WB_OK)
            return 1;
    }
    return 0;
}

int reader(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(struct counted));
    struct counted counted;
    uint32_t n = 0, last = WB_CORE_NONE;

    for (; wb_port_receive(in, &counted, WB_FOREVER) == WB_OK; last = counted.core, n++) {
        if (counted.number != n)
            wb_task_fail(self, "a number is missing, or came twice");
        if (counted.core != last)
            dprintf(STDOUT_FILENO, "number %u comes from core %u\n", n, counted.core);
    }
    dprintf(STDOUT_FILENO, "%u numbers, each once and in order\n", n);
    return 0;
}
