// SPDX-License-Identifier: Apache-2.0
// A C++ task: its strings and exceptions live in the task's heap and move along; while it handles
// an exception it does not move, because that state belongs to one kernel.
#include <stdexcept>
#include <string>

#include "wb/wb.h"

// Again where the other core did not take it in time: its processor may have been busy.
static enum wb_status hop(struct wb_task *self)
{
    enum wb_status status;

    do
        status = wb_migrate(self, 1 - wb_task_core(self), WB_FOREVER);
    while (status == WB_ERR_TIMEOUT);
    return status;
}

extern "C" int catcher(struct wb_task *self)
{
    std::string text(200, 'a');

    for (int i = 0; i < 20; i++) {
        text += std::string(100, 'b');
        if (hop(self) != WB_OK)
            return 1;
    }
    try {
        throw std::runtime_error(text);
    } catch (const std::exception &e) {
        if (hop(self) != WB_ERR_HELD || std::string(e.what()) != text)
            return 2;
    }
    return hop(self) == WB_OK && text.size() == 2200 ? 0 : 3;
}

// A variable of a template: the dynamic linker keeps it, and its module, to the end of a process.
template <class T> struct Lives {
    static int count;
};

template <class T> int Lives<T>::count = 0;

extern "C" int newborn(struct wb_task *self)
{
    wb_compute(self);
    return Lives<int>::count++;
}

// More than the heap has: by the module's own `new`, and by one of the C++ library's, which throws.
extern "C" int greedy(struct wb_task *self)
{
    (void)self;
    volatile char *block = new char[1 << 20];
    block[0] = 1;
    delete[] block;
    return 0;
}

extern "C" int wordy(struct wb_task *self)
{
    (void)self;
    std::string text(1 << 20, 'a');
    return text.size() == 1 << 20 ? 0 : 1;
}

struct Sample {
    double value[4];
};

// Sends a sample through slots of another size.
extern "C" int sampler(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(Sample));
    const Sample sample = {};

    return wb_port_send(out, &sample, WB_FOREVER) == WB_OK ? 0 : 1;
}
