// SPDX-License-Identifier: Apache-2.0
// Two contexts of Boost.Context resume each other: boost_switch BATCHES. Prints the median batch.

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace context = boost::context;

enum { BATCH = 256 };

int main(int argc, char **argv)
{
    const int batches = argc == 2 ? std::atoi(argv[1]) : 0;

    if (batches < 1) {
        std::fprintf(stderr, "usage: boost_switch BATCHES\n");
        return 2;
    }
    context::fiber other(std::allocator_arg, context::fixedsize_stack(), [](context::fiber &&main) {
        for (;;)
            main = std::move(main).resume();
        return std::move(main);
    });
    std::vector<double> took;
    for (int i = 0; i < batches; i++) {
        const auto from = std::chrono::steady_clock::now();
        for (int j = 0; j < BATCH; j++)
            other = std::move(other).resume();
        const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - from;
        took.push_back(ns.count() / BATCH / 2);
    }
    std::sort(took.begin(), took.end());
    std::printf("{\"peer\": \"boost.context %d.%d\", \"switch_ns\": %.2f}\n",
                BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, took[took.size() / 2]);
    return 0;
}
