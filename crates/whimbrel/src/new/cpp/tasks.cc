// Three tasks in a stream. Each is a function that the [[task]] of its name in app.toml runs.
#include <array>
#include <cstdint>
#include <cstdio>
#include <unistd.h>

#include "wb/wb.hpp"

namespace
{

constexpr std::uint32_t samples = 200;

// A message; its size is `slot_bytes` in app.toml.
struct sample {
    std::uint32_t number;
    std::int32_t value;
    std::uint32_t moves;  // of the filter so far
};

}  // namespace

// Sends a sawtooth, one sample in each period.
extern "C" int sensor(wb_task *self)
{
    wb::out<sample> out(self, "out");

    for (std::uint32_t n = 0; n < samples && !wb_stopping(self); n++) {
        if (out.send({ n, static_cast<std::int32_t>(n % 50), 0 }) != WB_OK)
            return 1;
        wb_period_wait(self);
    }
    return 0;
}

// Replaces each value by the mean of the last ones. They are on its stack, which moves along.
extern "C" int filter(wb_task *self)
{
    wb::in<sample> in(self, "in");
    wb::out<sample> out(self, "out");
    std::array<std::int32_t, 8> window{};
    std::int32_t sum = 0;

    for (sample one; in.receive(one) == WB_OK; wb_checkpoint()) {  // here it may leave its core
        auto &oldest = window[one.number % window.size()];
        sum += one.value - oldest;
        oldest = one.value;
        one.value = sum / static_cast<std::int32_t>(window.size());
        one.moves = static_cast<std::uint32_t>(wb_task_migrations(self));
        if (out.send(one) != WB_OK)
            return 1;
    }
    return 0;
}

// Counts the samples, and fails if one is missing. It prints by dprintf: a buffer of stdio would
// stay behind when a task moves.
extern "C" int sink(wb_task *self)
{
    wb::in<sample> in(self, "in");
    std::uint32_t n = 0, moves = 0;
    std::int32_t sum = 0;

    for (sample one; in.receive(one) == WB_OK; n++) {
        if (one.number != n)
            wb_task_fail(self, "a sample is missing");
        if (one.moves != moves)
            dprintf(STDOUT_FILENO, "sample %u comes after move %u of the filter\n", n, one.moves);
        moves = one.moves;
        sum += one.value;
        wb_checkpoint();
    }
    dprintf(STDOUT_FILENO, "%u samples, none lost, sum %d\n", n, sum);
    return 0;
}
