// SPDX-License-Identifier: Apache-2.0
// Two contexts of Boost.Context resume each other: boost_switch SWITCHES.

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace context = boost::context;

int main(int argc, char **argv)
{
    const long switches = argc == 2 ? std::atol(argv[1]) : 0;

    if (switches < 2) {
        std::fprintf(stderr, "usage: boost_switch SWITCHES\n");
        return 2;
    }
    context::fiber other(std::allocator_arg, context::fixedsize_stack(), [](context::fiber &&main) {
        for (;;)
            main = std::move(main).resume();
        return std::move(main);
    });
    const auto from = std::chrono::steady_clock::now();
    for (long i = 0; i < switches / 2; i++)
        other = std::move(other).resume();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
    std::printf("{\"peer\": \"boost.context %d.%d\", \"switches\": %ld, \"seconds\": %.6f}\n",
                BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, switches, took.count());
    return 0;
}
