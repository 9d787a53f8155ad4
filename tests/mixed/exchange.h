// SPDX-License-Identifier: Apache-2.0
// What the tasks of exchange.c and their launcher agree on.
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdint.h>

// EXCHANGED: messages from `source` to `sink`; NOWHERE: where a guest has no memory.
enum { EXCHANGED = 20000, NOWHERE = 16 };

// What `source` does instead, as the parameter `fault` says.
enum fault { FAULT_NONE, FAULT_NOWHERE, FAULT_OVERFLOW };

// The state of `sink`.
struct exchanged {
    uint32_t in_order;
};

// The state of `walker`.
struct walked {
    uint32_t lives, steps;
};

// To `echo` and back.
struct call {
    uint32_t number;
    uint64_t guest_ns;  // when `echo` had it
};

#endif
