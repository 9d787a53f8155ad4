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

const struct codec *voip_offered(struct wb_task *self, uint32_t i)
{
    const struct codec *codec = codecs[voip_of(self)->order[i]];

    if (!codec)
        wb_task_fail(self, "codecs: opus or G722 is not in the program of its core: leave it out, "
                           "or give the task a core of Linux by --map");
    return codec;
}
