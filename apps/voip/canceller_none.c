// SPDX-License-Identifier: Apache-2.0
// For a board, which has no SpeexDSP: serves a phone that has nothing taken off.
#include "voip.h"

int canceller(struct wb_task *self)
{
    const struct voip *voip = voip_of(self);
    struct wb_service service;
    struct wb_request request;

    if (voip->cancels || voip->suppresses)
        wb_task_fail(self, "SpeexDSP is not in the program of its core: give the task a core of "
                           "Linux by --map, or leave out cancel and suppress");
    voip_serve(self, "clean", &service);
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK)
        wb_task_fail(self, "it is called, with neither cancel nor suppress");
    return 0;
}
