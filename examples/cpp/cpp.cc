// SPDX-License-Identifier: Apache-2.0
// How do I write a task in C++?
//
//     make -C examples/cpp &&
//         bin/whimbrel run examples/cpp/app.toml --cores 0,1 --shuttle meter=1,0@50ms
//
// Messages are blocks of samples, written and read in place as std::span. The vector's memory is in
// the heap of its task, which moves along.
#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <vector>

#include "wb/wb.hpp"

enum { BLOCKS = 40 };

extern "C" int generator(wb_task *self)
{
    wb::out<float[]> out(self, "out");

    for (int n = 0; n < BLOCKS; n++) {
        if (auto samples = out.claim())  // committed at the end of this scope
            std::ranges::fill(*samples, static_cast<float>(n));
        else
            return 1;
        wb_period_wait(self);
        wb_checkpoint();
    }
    return 0;
}

extern "C" int meter(wb_task *self)
{
    wb::in<float[]> in(self, "in");
    std::vector<float> peaks;

    while (auto samples = in.hold()) {  // released at the end of this scope
        peaks.push_back(std::ranges::max(*samples));
        wb_checkpoint();
    }
    dprintf(STDOUT_FILENO, "%zu blocks of %zu samples, peak %.0f, %s\n", peaks.size(), in.size(),
            static_cast<double>(std::ranges::max(peaks)),
            wb_task_migrations(self) > 0 ? "the meter has moved" : "the meter has not moved");
    return 0;
}
