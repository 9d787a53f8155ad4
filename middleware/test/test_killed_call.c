// SPDX-License-Identifier: Apache-2.0
// A kernel killed at any instruction of a call: each call ends once, and the service and its other
// callers go on.
// with: check.c build.c kernel_stub.c killed.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "killed.h"
#include "service.h"

enum { CALLS = 3, BYTES = 4 };

// `task` runs on core 0, which dies: it calls or it serves. The others are on core 1, its
// successor.
static struct wb_task *task, *peer, *other;
static struct wb_caller caller;
static struct wb_service service;

static void build(bool task_serves)
{
    stub_open(&(struct wb_system_config){
        .cores = 2, .tasks = 3, .channels = 3, .ports = 7, .core_align = WB_LINE_BYTES });
    task = stub_task("task", 0);
    peer = stub_task("peer", 1);
    other = stub_task("other", 1);
    task->restart = true;
    struct wb_channel *requests = service_build(task_serves ? task : peer, "s", BYTES, 2 * CALLS);
    service_caller(requests, task_serves ? peer : task, BYTES, CALLS);
    service_caller(requests, other, BYTES, CALLS);
    stub_start(stub.system);
    stub_run(task);
}

static void become(struct wb_task *whom)
{
    stub_become(wb_task_core(whom), whom);
}

static void ask(struct wb_caller *from, uint32_t number)
{
    CHECK(wb_call_async(from, &number, sizeof number, NULL, NULL, 0) == WB_OK);
}

// Serves all that is there; returns how many there were.
static uint32_t serve_all(void)
{
    struct wb_request request;
    uint32_t n = 0;

    for (; wb_service_take(&service, &request, 0) == WB_OK; n++) {
        memcpy(request.answer, request.data, BYTES);
        CHECK(wb_service_answer(&service, BYTES) == WB_OK);
    }
    return n;
}

// The next answer: to this number, or none.
static enum wb_status end(struct wb_caller *from, uint32_t number)
{
    struct wb_answer answer;

    CHECK(wb_call_take(from, &answer, 0) == WB_OK);
    CHECK(answer.status == WB_ERR_GONE || *(const uint32_t *)answer.data == number);
    CHECK(wb_call_release(from) == WB_OK);
    return answer.status;
}

// All of both callers' calls can be outstanding at once, and get their answers, again and again.
static void check_whole(struct wb_task *calling, struct wb_caller *from)
{
    struct wb_task *serving = calling == task ? peer : task;
    struct wb_caller theirs;

    become(other);
    CHECK(wb_caller_open(other, "s", &theirs) == WB_OK);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < CALLS; i++) {
            become(calling);
            ask(from, i);
            become(other);
            ask(&theirs, 10 + i);
        }
        become(serving);
        CHECK(serve_all() == 2 * CALLS);
        for (uint32_t i = 0; i < CALLS; i++) {
            become(calling);
            CHECK(end(from, i) == WB_OK);
            become(other);
            CHECK(end(&theirs, 10 + i) == WB_OK);
        }
    }
}

// ---- The service dies ---------------------------------------------------------------------------

static void build_service(void)
{
    build(true);
    CHECK(wb_service_open(task, "s", &service) == WB_OK);
    become(peer);
    CHECK(wb_caller_open(peer, "s", &caller) == WB_OK);
    for (uint32_t i = 0; i < CALLS; i++)
        ask(&caller, i);
    become(task);
}

static void serve(void)
{
    struct wb_request request;

    for (uint32_t i = 0; i < CALLS; i++) {
        CHECK(wb_service_take(&service, &request, 0) == WB_OK);
        memcpy(request.answer, request.data, BYTES);
        CHECK(wb_service_answer(&service, BYTES) == WB_OK);
        *killed_progress() = i + 1;
    }
}

static void check_served(void)
{
    const struct wb_caller before = caller;
    uint32_t gone = 0;

    killed_start_again(task);
    CHECK(wb_service_open(task, "s", &service) == WB_OK);
    serve_all();
    become(peer);
    for (uint32_t i = 0; i < CALLS; i++) {
        const bool is_gone = end(&caller, i) == WB_ERR_GONE;
        // What was answered stays answered, and what was not begun is served.
        CHECK(!is_gone || i == *killed_progress());
        gone += is_gone;
    }
    CHECK(gone <= 1);
    struct wb_answer none;
    CHECK(wb_call_take(&caller, &none, 0) == WB_ERR_INVAL);
    CHECK(wb_port_hold(caller.answers, (const void **)&none.data, 0) == WB_ERR_EMPTY);
    check_whole(peer, &caller);
    caller = before;
}

TEST(a_killed_service_leaves_each_call_with_one_end_and_its_next_life_serves_on)
{
    killed_show(&(struct killed){ build_service, serve, check_served }, 12 * CALLS);
}

// ---- A caller dies ------------------------------------------------------------------------------

static void build_caller(void)
{
    build(false);
    CHECK(wb_caller_open(task, "s", &caller) == WB_OK);
    become(peer);
    CHECK(wb_service_open(peer, "s", &service) == WB_OK);
    become(task);
    for (uint32_t i = 0; i < CALLS - 1; i++)
        ask(&caller, i);
    // One has been answered, and one is about to be.
    become(peer);
    struct wb_request request;
    CHECK(wb_service_take(&service, &request, 0) == WB_OK);
    memcpy(request.answer, request.data, BYTES);
    CHECK(wb_service_answer(&service, BYTES) == WB_OK);
    CHECK(wb_service_take(&service, &request, 0) == WB_OK);
    become(task);
}

static void call(void)
{
    ask(&caller, CALLS - 1);
    CHECK(end(&caller, 0) == WB_OK);
}

static void check_called(void)
{
    const struct wb_service before = service;
    struct wb_caller anew;

    killed_start_again(task);
    CHECK(wb_caller_open(task, "s", &anew) == WB_OK);
    become(peer);
    CHECK(wb_service_answer(&service, BYTES) == WB_OK);
    // What the former life has asked for is not served.
    CHECK(serve_all() == 0);
    check_whole(task, &anew);
    service = before;
}

TEST(a_killed_caller_leaves_no_slot_behind_and_its_next_life_calls_on)
{
    killed_show(&(struct killed){ build_caller, call, check_called }, 10);
}
