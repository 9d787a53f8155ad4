// SPDX-License-Identifier: Apache-2.0
// None: for ordinary tasks of an RTOS, which have no channels. They move by hand-off.

#include "wb/system.h"

const struct wb_parts wb_parts = { 0 };
