// SPDX-License-Identifier: Apache-2.0
#include "voip.h"

struct voip *voip_of(const struct wb_task *self)
{
    return wb_task_app(self)->state;
}

void voip_serve(struct wb_task *self, const char *name, struct wb_service *service)
{
    if (wb_service_open(self, name, service) != WB_OK)
        wb_task_fail(self, "it serves under no name that its code knows: see [[service]]");
}
