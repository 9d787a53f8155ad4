// SPDX-License-Identifier: Apache-2.0
// Where the cores are processors of this machine.

#include "host.h"

const char *wb_host_start_error(const struct wb_host *host)
{
    (void)host;
    return "this processor cannot be used";
}
