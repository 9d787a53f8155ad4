// SPDX-License-Identifier: Apache-2.0
// Unit tests of calls, step by step: the test plays the caller and the service in turns.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "service.h"

enum { CALLS = 3, REQUEST = 16, ANSWER = 8, CALLER_CORE = 0, SERVICE_CORE = 1, CORES = 3 };

static struct wb_task *task, *other, *server;
static struct wb_caller caller;
static struct wb_service service;
static struct wb_request taken;
static uint32_t done, last_number;
static enum wb_status last_status;
static char last[ANSWER + 1];

static void become(struct wb_task *whom)
{
    stub_become(wb_task_core(whom), whom);
}

static void become_caller(void)
{
    become(task);
}

static void become_service(void)
{
    become(server);
}

static void setup_with(uint32_t slots)
{
    stub_system(CORES);
    task = stub_task("task", CALLER_CORE);
    other = stub_task("other", CALLER_CORE);
    server = stub_task("server", SERVICE_CORE);
    task->restart = server->restart = true;
    struct wb_channel *requests = service_build(server, "echo", REQUEST, slots);
    service_caller(requests, task, ANSWER, CALLS);
    service_caller(requests, other, ANSWER, CALLS);
    stub_start(stub.system);
    done = last_number = 0;
    become_service();
    CHECK(wb_service_open(server, "echo", &service) == WB_OK);
    become_caller();
    CHECK(wb_caller_open(task, "echo", &caller) == WB_OK);
}

static void setup(void)
{
    setup_with(2 * CALLS);
}

static void note(const struct wb_answer *answer, void *arg)
{
    CHECK(arg == &done);
    done++;
    last_number = answer->number;
    last_status = answer->status;
    memset(last, 0, sizeof last);
    if (answer->data != NULL)
        memcpy(last, answer->data, answer->bytes);
}

static enum wb_status call(const char *text)
{
    return wb_call_async(&caller, text, (uint32_t)strlen(text), note, &done, 0);
}

// Takes a request, which must be this one.
static void take(const char *text)
{
    become_service();
    CHECK(wb_service_take(&service, &taken, 0) == WB_OK);
    CHECK(taken.bytes == strlen(text) && memcmp(taken.data, text, taken.bytes) == 0);
    CHECK(taken.room == ANSWER);
}

static void answer(const char *text)
{
    memcpy(taken.answer, text, strlen(text));
    CHECK(wb_service_answer(&service, (int32_t)strlen(text)) == WB_OK);
    become_caller();
}

static bool nothing_to_serve(void)
{
    become_service();
    const enum wb_status status = wb_service_take(&service, &taken, 0);
    become_caller();
    return status == WB_ERR_EMPTY;
}

// The kernel of a task dies while it runs; the task starts again on the next.
static void die(struct wb_task *whom)
{
    const uint32_t core = wb_task_core(whom), incarnation = whom->restarts;

    stub_run(whom);
    stub_leave();
    CHECK(wb_core_died(stub.system, core) == 0);
    stub_serve((core + 1) % CORES);
    CHECK(whom->restarts == incarnation + 1);
}

static void service_dies(void)
{
    die(server);
    become_service();
    CHECK(wb_service_open(server, "echo", &service) == WB_OK);
    become_caller();
}

static void caller_dies(void)
{
    die(task);
    become_caller();
    CHECK(wb_caller_open(task, "echo", &caller) == WB_OK);
}

// ---- What is refused ----------------------------------------------------------------------------

TEST(who_neither_offers_nor_calls_a_service_is_refused)
{
    struct wb_caller no_caller;
    struct wb_service no_service;

    setup();
    CHECK(wb_caller_open(task, "ohce", &no_caller) == WB_ERR_INVAL);
    CHECK(wb_caller_open(server, "echo", &no_caller) == WB_ERR_INVAL);
    CHECK(wb_service_open(task, "echo", &no_service) == WB_ERR_INVAL);
    CHECK(wb_service_open(server, "ohce", &no_service) == WB_ERR_INVAL);
}

TEST(a_request_larger_than_its_slot_is_refused_and_a_smaller_one_can_follow)
{
    void *slot;
    char long_text[REQUEST + 1] = { 0 };

    setup();
    CHECK(wb_call_room(&caller) == REQUEST);
    CHECK(wb_call_async(&caller, long_text, sizeof long_text, note, &done, 0) == WB_ERR_INVAL);
    CHECK(wb_call(&caller, long_text, sizeof long_text, last, ANSWER, 0) == WB_ERR_INVAL);
    CHECK(wb_call_begin(&caller, &slot, 0) == WB_OK);
    CHECK(wb_call_commit(&caller, REQUEST + 1, note, &done) == WB_ERR_INVAL);
    CHECK(wb_call_commit(&caller, REQUEST, note, &done) == WB_OK);
    CHECK(wb_call_commit(&caller, 0, note, &done) == WB_ERR_INVAL);
}

TEST(an_answer_larger_than_its_slot_is_refused_and_a_smaller_one_can_follow)
{
    setup();
    CHECK(call("a") == WB_OK);
    take("a");
    CHECK(wb_service_answer(&service, ANSWER + 1) == WB_ERR_INVAL);
    answer("b");
    become_service();
    CHECK(wb_service_answer(&service, 1) == WB_ERR_INVAL);
}

TEST(no_more_calls_are_outstanding_than_may_be)
{
    setup();
    for (uint32_t i = 0; i < CALLS; i++)
        CHECK(call("a") == WB_OK);
    CHECK(call("a") == WB_ERR_FULL && wb_call_outstanding(&caller) == CALLS);
    take("a");
    answer("");
    // Its end makes room for another.
    CHECK(call("a") == WB_OK && done == 1);
}

TEST(the_requests_of_others_may_leave_no_room)
{
    struct wb_caller theirs;

    setup_with(CALLS);
    become(other);
    CHECK(wb_caller_open(other, "echo", &theirs) == WB_OK);
    for (uint32_t i = 0; i < CALLS; i++)
        CHECK(wb_call_async(&theirs, "x", 1, NULL, NULL, 0) == WB_OK);
    become_caller();
    CHECK(wb_call_async(&caller, "x", 1, NULL, NULL, 0) == WB_ERR_FULL);
    CHECK(wb_call_async(&caller, "x", 1, NULL, NULL, 1000) == WB_ERR_TIMEOUT);
    CHECK(wb_call_outstanding(&caller) == 0);
}

static uint32_t refused;

static void wait_inside(const struct wb_answer *unused, void *arg)
{
    struct wb_answer inner;

    (void)unused, (void)arg;
    refused += wb_call(&caller, "x", 1, last, ANSWER, WB_FOREVER) == WB_ERR_BUSY;
    refused += wb_call_take(&caller, &inner, WB_FOREVER) == WB_ERR_BUSY;
    refused += wb_call_complete(&caller, WB_FOREVER) == WB_ERR_BUSY;
    CHECK(call("again") == WB_OK);
}

TEST(a_completion_function_does_not_wait_for_another_call_but_may_make_one)
{
    setup();
    refused = 0;
    CHECK(wb_call_async(&caller, "a", 1, wait_inside, NULL, 0) == WB_OK);
    take("a");
    answer("");
    CHECK(wb_call_complete(&caller, 0) == 1 && refused == 3);
    take("again");
    answer("b");
    CHECK(wb_call_complete(&caller, 0) == 1 && strcmp(last, "b") == 0);
}

// ---- What comes of a call -----------------------------------------------------------------------

TEST(answers_come_in_the_order_of_the_calls_each_to_its_own_caller)
{
    struct wb_caller theirs;
    struct wb_answer got;

    setup();
    become(other);
    CHECK(wb_caller_open(other, "echo", &theirs) == WB_OK);
    CHECK(wb_call_async(&theirs, "theirs", 6, NULL, NULL, 0) == WB_OK);
    become_caller();
    CHECK(call("one") == WB_OK && call("two") == WB_OK);
    CHECK(wb_call_complete(&caller, 0) == WB_ERR_EMPTY);
    take("theirs");
    answer("3");
    take("one");
    answer("1");
    CHECK(wb_call_complete(&caller, 0) == 1 && strcmp(last, "1") == 0 && last_number == 1);
    take("two");
    answer("2");
    CHECK(wb_call_complete(&caller, 0) == 1 && strcmp(last, "2") == 0 && last_number == 2);
    CHECK(wb_call_complete(&caller, 0) == WB_ERR_INVAL && nothing_to_serve());
    become(other);
    CHECK(wb_call_take(&theirs, &got, 0) == WB_OK && got.bytes == 1 &&
          *(const char *)got.data == '3');
    CHECK(wb_call_release(&theirs) == WB_OK && wb_call_release(&theirs) == WB_ERR_INVAL);
}

TEST(a_request_and_its_answer_are_written_and_read_in_place)
{
    struct wb_answer got;
    void *slot;

    setup();
    CHECK(wb_call_begin(&caller, &slot, 0) == WB_OK);
    CHECK((uintptr_t)slot % WB_CALL_HEAD_BYTES == 0);
    CHECK(wb_call_begin(&caller, &slot, 0) == WB_ERR_INVAL);
    memcpy(slot, "here", 4);
    CHECK(wb_call_take(&caller, &got, 0) == WB_ERR_INVAL);
    CHECK(wb_call_commit(&caller, 4, NULL, NULL) == WB_OK);
    CHECK(wb_call_take(&caller, &got, 0) == WB_ERR_EMPTY);
    CHECK(wb_call_take(&caller, &got, 1000) == WB_ERR_TIMEOUT);
    take("here");
    CHECK(taken.data == slot);
    const void *place = taken.answer;
    answer("there");
    CHECK(wb_call_take(&caller, &got, 0) == WB_OK && got.data == place && got.bytes == 5);
    CHECK(got.status == WB_OK && got.number == 1);
    CHECK(wb_call_take(&caller, &got, 0) == WB_ERR_INVAL);
    CHECK(wb_call_release(&caller) == WB_OK);
}

TEST(completion_functions_of_calls_before_are_called_while_one_is_taken)
{
    struct wb_answer got;

    setup();
    CHECK(call("one") == WB_OK);
    CHECK(wb_call_async(&caller, "two", 3, NULL, NULL, 0) == WB_OK);
    CHECK(call("three") == WB_OK);
    CHECK(wb_call(&caller, "four", 4, last, ANSWER, 0) == WB_ERR_BUSY);
    take("one");
    answer("1");
    take("two");
    answer("2");
    take("three");
    answer("3");
    CHECK(wb_call_complete(&caller, 0) == 1 && last_number == 1);
    CHECK(wb_call_complete(&caller, 0) == WB_ERR_INVAL);
    CHECK(wb_call_take(&caller, &got, 0) == WB_OK && got.number == 2 && done == 1);
    CHECK(wb_call_complete(&caller, 0) == WB_ERR_INVAL);
    CHECK(wb_call_release(&caller) == WB_OK);
    CHECK(wb_call_complete(&caller, 0) == 1 && last_number == 3);
}

static void serve_while_blocked(uint64_t until_ns)
{
    (void)until_ns;
    stub.on_block = NULL;
    take("ping");
    answer("pong");
}

TEST(who_calls_waits_for_the_answer)
{
    char back[ANSWER];

    setup();
    stub.on_block = serve_while_blocked;
    CHECK(wb_call(&caller, "ping", 4, back, sizeof back, WB_FOREVER) == 4);
    CHECK(memcmp(back, "pong", 4) == 0 && wb_call_outstanding(&caller) == 0);
    stub.on_block = serve_while_blocked;
    CHECK(wb_call(&caller, "ping", 4, back, 3, WB_FOREVER) == WB_ERR_NOMEM);
}

TEST(an_answer_that_comes_too_late_is_dropped)
{
    char back[ANSWER];

    setup();
    for (uint32_t i = 0; i < CALLS; i++)
        CHECK(wb_call(&caller, "late", 4, back, sizeof back, 1000) == WB_ERR_TIMEOUT);
    CHECK(wb_call(&caller, "late", 4, back, sizeof back, 0) == WB_ERR_FULL);
    for (uint32_t i = 0; i < CALLS; i++) {
        take("late");
        answer("old");
    }
    stub.on_block = serve_while_blocked;
    CHECK(wb_call(&caller, "ping", 4, back, sizeof back, WB_FOREVER) == 4);
    CHECK(memcmp(back, "pong", 4) == 0);
}

TEST(a_service_may_refuse_a_request)
{
    setup();
    CHECK(call("bad") == WB_OK);
    take("bad");
    CHECK(wb_service_take(&service, &taken, 0) == WB_ERR_INVAL);
    CHECK(wb_service_answer(&service, WB_ERR_INVAL) == WB_OK);
    become_caller();
    CHECK(wb_call_complete(&caller, 0) == 1 && last_status == WB_ERR_INVAL);
}

// ---- Ends and deaths ----------------------------------------------------------------------------

TEST(calls_that_a_service_leaves_without_an_answer_end_with_an_error)
{
    setup();
    CHECK(call("one") == WB_OK && call("two") == WB_OK && call("three") == WB_OK);
    take("one");
    answer("1");
    take("two");
    wb_port_close(service.requests);
    for (struct wb_port *p = server->ports; p != NULL; p = p->next_of_task)
        wb_port_close(p);
    become_caller();
    CHECK(wb_call_complete(&caller, WB_FOREVER) == 3 && done == 3);
    CHECK(last_number == 3 && last_status == WB_ERR_GONE);
    CHECK(call("four") == WB_ERR_GONE);
}

TEST(a_service_whose_callers_are_over_is_told)
{
    setup();
    CHECK(call("one") == WB_OK);
    for (struct wb_port *p = task->ports; p != NULL; p = p->next_of_task)
        wb_port_close(p);
    for (struct wb_port *p = other->ports; p != NULL; p = p->next_of_task)
        wb_port_close(p);
    become_service();
    // What nobody waits for is not served.
    CHECK(wb_service_take(&service, &taken, WB_FOREVER) == WB_ERR_GONE);
}

TEST(what_a_service_had_begun_when_it_died_ends_with_an_error_and_the_rest_is_served)
{
    setup();
    CHECK(call("one") == WB_OK && call("two") == WB_OK);
    take("one");
    service_dies();
    take("two");
    answer("2");
    CHECK(wb_call_complete(&caller, 0) == 2 && strcmp(last, "2") == 0 && last_status == WB_OK);
    CHECK(nothing_to_serve() && wb_call_outstanding(&caller) == 0);
    // It may be called as before.
    for (uint32_t i = 0; i < 3 * CALLS; i++) {
        CHECK(call("more") == WB_OK);
        take("more");
        answer("m");
        CHECK(wb_call_complete(&caller, 0) == 1 && strcmp(last, "m") == 0);
    }
}

TEST(a_caller_that_begins_anew_sees_no_answer_to_its_former_life)
{
    setup();
    CHECK(call("one") == WB_OK && call("two") == WB_OK && call("three") == WB_OK);
    take("one");
    answer("1");
    take("two");
    caller_dies();
    // The service was about to answer; it takes no request of the former life any more.
    become_service();
    answer("2");
    CHECK(call("a") == WB_OK && call("b") == WB_OK && call("c") == WB_OK);
    for (const char *text = "abc"; *text != '\0'; text++) {
        const char one[] = { *text, '\0' };
        take(one);
        answer(one);
    }
    CHECK(wb_call_complete(&caller, 0) == 3 && strcmp(last, "c") == 0 && done == 3);
}

// Its stack says what it had called for when the image was taken.
TEST(a_caller_that_goes_on_from_an_image_has_no_answers_to_wait_for_and_calls_on)
{
    setup();
    CHECK(call("one") == WB_OK && call("two") == WB_OK);
    take("one");
    answer("1");
    const struct wb_caller image = caller;
    CHECK(call("three") == WB_OK);
    wb_word_add(&task->incarnation, 1, WB_SEQ_CST);
    caller = image;
    CHECK(wb_call_complete(&caller, WB_FOREVER) == 2 && last_status == WB_ERR_GONE);
    CHECK(nothing_to_serve());
    for (uint32_t i = 0; i < CALLS; i++)
        CHECK(call("more") == WB_OK);
    for (uint32_t i = 0; i < CALLS; i++) {
        take("more");
        answer("m");
    }
    CHECK(wb_call_complete(&caller, 0) == CALLS && strcmp(last, "m") == 0);
}

TEST(numbers_of_calls_may_wrap)
{
    setup();
    caller.made = caller.ended = caller.gone = UINT32_MAX - 1;
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(call("x") == WB_OK && call("y") == WB_OK);
        take("x");
        answer("1");
        take("y");
        answer("2");
        CHECK(wb_call_complete(&caller, 0) == 2 && strcmp(last, "2") == 0);
    }
    CHECK(last_number == 6);
}
