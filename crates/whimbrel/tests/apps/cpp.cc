// SPDX-License-Identifier: Apache-2.0
// A C++ task: its strings and exceptions live in the task's heap and move along; while it handles an
// exception it does not move, because that state belongs to one kernel.
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
