// SPDX-License-Identifier: Apache-2.0
// A system of scripts: a camera that waits with a mutex until its picture is taken, the decoder
// that takes it, and two workers that meet at a barrier.
#ifndef WB_SCRIPTED_H
#define WB_SCRIPTED_H

#include "suite.h"

enum { SCRIPTED = 4 };

/// Its tasks are the first ones, each of so many turns; they may move, and start again.
struct harness *scripted_open(uint32_t cores, uint32_t turns);

/// How many turns a task has made.
uint64_t scripted_firings(struct harness *h, uint32_t task);

#endif
