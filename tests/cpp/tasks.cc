// SPDX-License-Identifier: Apache-2.0
// What wb/wb.hpp promises: two tasks, which move to and fro in the middle of it. And one that finds
// slots of another size.
#include <array>
#include <numeric>
#include <stdexcept>
#include <string>

#include "wb/wb.hpp"

struct sample {
    std::uint64_t number;
    std::array<float, 3> value;
};

static_assert(wb::carried<sample> && wb::carried<float[]>);
static_assert(!wb::carried<std::string> && !wb::carried<float[3]> && !wb::carried<const float[]>);
static_assert(!std::is_copy_constructible_v<wb::held<sample>>);
static_assert(!std::is_copy_constructible_v<wb::mutex_lock>);

namespace
{

constexpr std::uint32_t ROUNDS = 20;

wb_mutex left_locked;

void check(wb_task *self, bool holds, int line = __builtin_LINE())
{
    if (!holds)
        wb_task_fail(self, ("tasks.cc:" + std::to_string(line)).c_str());
}

// Again where the other core did not take it in time: its processor may have been busy.
wb_status hop(wb_task *self)
{
    wb_status status;

    do
        status = wb_migrate(self, 1 - wb_task_core(self), wb::forever);
    while (status == WB_ERR_TIMEOUT);
    return status;
}

// One message for each slot, however that ends.
void claim_in_every_way(wb_task *self, const wb::out<sample> &out)
{
    const std::uint64_t before = wb_port_messages(out.get());
    {
        auto slot = out.claim();
        *slot = { 1, { 1, 2, 3 } };
        check(self, hop(self) == WB_OK);
        check(self, slot && wb_port_messages(out.get()) == before);
    }
    check(self, wb_port_messages(out.get()) == before + 1);
    {
        auto first = out.claim();
        first->number = 2;
        auto second = std::move(first);
        check(self, !first && second);
        second.end();
        check(self, !second && wb_port_messages(out.get()) == before + 2);
    }
    check(self, wb_port_messages(out.get()) == before + 2);
    try {
        auto slot = out.claim();
        slot->number = 3;
        throw std::runtime_error("leaves the scope");
    } catch (const std::exception &) {
        check(self, hop(self) == WB_ERR_HELD);
    }
    check(self, wb_port_messages(out.get()) == before + 3);
    check(self, out.send({ 4, {} }) == WB_OK && hop(self) == WB_OK);
}

void lock_in_every_way(wb_task *self)
{
    static wb_mutex mutex;
    static char name;
    {
        wb::mutex_lock lock(&mutex);
        check(self, lock && hop(self) == WB_OK);
        const wb::mutex_lock again(&mutex, 0);
        check(self, !again && again.status() == WB_ERR_INVAL);
    }
    check(self, wb_mutex_try(&mutex) == WB_OK && wb_mutex_unlock(&mutex) == WB_OK);
    {
        wb::address_lock lock(&name);
        check(self, lock && hop(self) == WB_ERR_HELD);
    }
    check(self, hop(self) == WB_OK);
}

}  // namespace

extern "C" int sender(wb_task *self)
{
    const wb::out<sample> out(self, "out");
    const wb::out<std::uint32_t[]> blocks(self, "blocks");

    for (std::uint32_t round = 0; round < ROUNDS; round++) {
        auto block = blocks.claim();
        check(self, block->size() == blocks.size());
        std::iota(block->begin(), block->end(), round);
        claim_in_every_way(self, out);
        lock_in_every_way(self);
    }
    return wb_mutex_lock(&left_locked, wb::forever);
}

extern "C" int receiver(wb_task *self)
{
    const wb::in<sample> in(self, "in");
    const wb::in<std::uint32_t[]> blocks(self, "blocks");
    std::uint64_t sum = 0, rounds = 0;

    for (; const auto block = blocks.hold(); rounds++) {
        sum = std::accumulate(block->begin(), block->end(), sum);
        {
            const auto first = in.hold(), second = in.hold();
            check(self, hop(self) == WB_OK);
            check(self, first->number == 1 && first->value[2] == 3 && second->number == 2);
            check(self, wb_port_messages(in.get()) == 4 * rounds);
        }
        check(self, wb_port_messages(in.get()) == 4 * rounds + 2);
        sample third;
        check(self, in.receive(third) == WB_OK && third.number == 3);
        auto fourth = in.hold();
        check(self, fourth->number == 4);
        fourth.end();
        check(self, !fourth && wb_port_messages(in.get()) == 4 * rounds + 4);
    }
    const std::uint64_t n = blocks.size();
    check(self, rounds == ROUNDS && in.hold().status() == WB_ERR_GONE);
    check(self, sum == n * (ROUNDS * (ROUNDS - 1) / 2) + ROUNDS * (n * (n - 1) / 2));
    const wb::mutex_lock lock(&left_locked);
    check(self, lock && lock.status() == WB_ERR_OWNER);
    return 0;
}

extern "C" int stranger(wb_task *self)
{
    return wb::out<sample>(self, "out").send({}) == WB_OK ? 0 : 1;
}
