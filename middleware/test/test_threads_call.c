// SPDX-License-Identifier: Apache-2.0
// Calls between cores that really run at once, while callers and service move, and callers begin
// anew.
// with: check.c build.c kernel_threads.c
#include <string.h>

#include "check.h"
#include "kernel_threads.h"
#include "service.h"

enum { CALLERS = 2, CALLS = 3, ROUNDS = 3000, ANEW = 16 };

struct message {
    uint32_t caller, number, both;
};

static struct wb_swapped callers;  // that are not done

static int serve_all(struct wb_task *self)
{
    struct wb_service service;
    struct wb_request request;

    CHECK(wb_service_open(self, "s", &service) == WB_OK);
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        const struct message *asked = request.data;
        CHECK(asked->both == (asked->caller ^ asked->number));
        wb_checkpoint();
        memcpy(request.answer, asked, sizeof *asked);
        CHECK(wb_service_answer(&service, sizeof *asked) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

static void ask(struct wb_caller *caller, uint32_t me, uint32_t number)
{
    const struct message asked = { me, number, me ^ number };

    CHECK(wb_call_async(caller, &asked, sizeof asked, NULL, NULL, WB_FOREVER) == WB_OK);
}

static void end(struct wb_caller *caller, uint32_t me, uint32_t number)
{
    struct wb_answer answer;

    CHECK(wb_call_take(caller, &answer, WB_FOREVER) == WB_OK && answer.status == WB_OK);
    const struct message *got = answer.data;
    CHECK(got->caller == me && got->number == number && got->both == (me ^ number));
    CHECK(wb_call_release(caller) == WB_OK);
}

// Now and then it begins anew with calls outstanding: nobody answers those, or it is dropped.
static int call_all(struct wb_task *self)
{
    const uint32_t me = (uint32_t)(wb_task_name(self)[0] - 'a');
    struct wb_caller caller;

    for (uint32_t i = 0; i < ROUNDS && !threads_are_late(); i++) {
        if (i % ANEW == 0)
            CHECK(wb_caller_open(self, "s", &caller) == WB_OK);
        for (uint32_t j = 0; j < CALLS; j++)
            ask(&caller, me, CALLS * i + j);
        wb_checkpoint();
        for (uint32_t j = 0; j < CALLS && i % ANEW != ANEW - 1; j++)
            end(&caller, me, CALLS * i + j);
        wb_checkpoint();
    }
    wb_word_sub(&callers, 1, WB_SEQ_CST);
    return 0;
}

static int move_all(struct wb_task *self)
{
    struct wb_system *system = wb_task_app(self)->system;

    for (uint32_t i = 0; wb_word_load(&callers, WB_SEQ_CST) != 0; i++) {
        const enum wb_status status = wb_migrate(&system->tasks[i % (1 + CALLERS)], i % 3, 5000000);
        CHECK(status == WB_OK || status == WB_ERR_TIMEOUT || status == WB_ERR_BUSY ||
              status == WB_ERR_GONE);
        if (status == WB_ERR_BUSY || status == WB_ERR_GONE)
            wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

TEST(each_call_gets_its_own_answer_while_all_move_and_callers_begin_anew)
{
    static const char *const names[CALLERS] = { "a", "b" };
    struct wb_system *s = threads_open(3);
    struct wb_channel *requests = service_build(build_task(s, "server", 2, 3, serve_all), "s",
                                                sizeof(struct message), CALLERS * CALLS);

    wb_word_init(&callers, CALLERS);
    for (uint32_t i = 0; i < CALLERS; i++)
        service_caller(requests, build_task(s, names[i], i, 3, call_all), sizeof(struct message),
                       CALLS);
    build_task(s, "mover", 2, 4, move_all);
    threads_run();
}
