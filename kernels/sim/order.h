// SPDX-License-Identifier: Apache-2.0
// Tasks in an order, as trees: to add one and to take one out takes a logarithm of how many there
// are, but no longer than to look at its neighbours for what comes last or leaves first, as tasks
// mostly do.
//
// Treaps: R. Seidel, C. R. Aragon, "Randomized Search Trees", Algorithmica 16, 1996. What is drawn
// there is a number of the task's here, so a simulation is the same each time.
#ifndef WB_SIM_ORDER_H
#define WB_SIM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct rank {  // of a task
    struct rank *left, *right, *up;
    int64_t key, number;   // by these it is before others, which have other numbers
    int64_t value, least;  // its own, and of all below it
    uint32_t task, weight;
};

struct order {
    struct rank *root, *first, *last;
    int64_t front, back;  // the numbers that were given last
};

/// A number before, or after, all that were given.
static inline int64_t order_before(struct order *order)
{
    return --order->front;
}

static inline int64_t order_after(struct order *order)
{
    return ++order->back;
}

/// Adds one, whose key, number, value and task are set.
void order_add(struct order *order, struct rank *rank);

/// Takes one out.
void order_remove(struct order *order, struct rank *rank);

/// The first whose value is at most `most`; NULL: there is none.
struct rank *order_first_within(const struct order *order, int64_t most);

#endif
