// SPDX-License-Identifier: Apache-2.0
// A module that no kernel can link.
#include "wb/wb.h"

int stranger(struct wb_task *self);
int no_such_function(struct wb_task *self);

int stranger(struct wb_task *self)
{
    return no_such_function(self);
}
