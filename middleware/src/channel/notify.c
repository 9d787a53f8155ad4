// SPDX-License-Identifier: Apache-2.0
#include "../internal.h"

extern inline void wb_port_notify(struct wb_port *peer);
