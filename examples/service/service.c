// SPDX-License-Identifier: Apache-2.0
// How does a task call another one, and get an answer?
//
//     make -C examples/service &&
//         bin/whimbrel run examples/service/app.toml
//
// The service writes its answer into the slot that comes with the request. Either end may move.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wb/wb.h"

int shouter(struct wb_task *self)
{
    struct wb_service service;
    struct wb_request request;

    if (wb_service_open(self, "shout", &service) != WB_OK)
        return 1;
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        const char *text = request.data;
        char *answer = request.answer;
        for (uint32_t i = 0; i < request.bytes; i++)
            answer[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
        if (wb_service_answer(&service, (int32_t)request.bytes) != WB_OK)
            return 1;
        wb_checkpoint();
    }
    return 0;  // no caller is left
}

int caller(struct wb_task *self)
{
    static const char *const words[] = { "a bird", "in the wind", "flies far" };
    struct wb_caller caller;
    char answer[32];

    if (wb_caller_open(self, "shout", &caller) != WB_OK)
        return 1;
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
        const int32_t n = wb_call(&caller, words[i], (uint32_t)strlen(words[i]), answer,
                                  sizeof answer, WB_FOREVER);
        if (n < 0)
            wb_task_fail(self, wb_status_text((enum wb_status)n));
        dprintf(STDOUT_FILENO, "%s: %.*s\n", words[i], (int)n, answer);
    }
    return 0;
}
