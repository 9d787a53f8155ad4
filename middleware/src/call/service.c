// SPDX-License-Identifier: Apache-2.0
// The serving end of a call.
//
// A request stays in its slot until it is answered, so it is there for the next life of a service
// whose kernel is killed. The word in its head says how far it came: what was begun is answered
// with WB_ERR_GONE, once. There is always room for an answer: a caller has no more calls
// outstanding than its channel has slots, but for one, which a caller that has begun anew finds
// there from before.

#include "call.h"

static struct call_head *head_of(const void *slot)
{
    return (struct call_head *)(uintptr_t)slot;
}

enum wb_status wb_service_open(struct wb_task *self, const char *name, struct wb_service *service)
{
    struct wb_port *requests = wb_port_find_any(self, name, 0);

    if (requests == NULL || requests->direction != WB_IN || requests->channel->tickets == NULL ||
        requests->channel->slot_bytes <= WB_CALL_HEAD_BYTES)
        return WB_ERR_INVAL;
    *service = (struct wb_service){ .requests = requests };
    return WB_OK;
}

// Its caller waits for an answer still.
static bool is_awaited(const struct call_head *request)
{
    const struct wb_port *caller = request->answers->channel->receiver;

    // seq_cst as where it is stored: what the caller finds there afterwards is one answer at most.
    return wb_word_load(&caller->session, WB_SEQ_CST) == request->session;
}

static void send(struct wb_port *requests, struct call_head *request, struct call_head *answer,
                 int32_t size)
{
    struct wb_port *out = request->answers;

    answer->number = request->number;
    answer->session = request->session;
    answer->size = size;
    call_step(requests, request->number, WB_CALL_ANSWERED);
    // Release: before the commit, whenever this kernel is killed.
    wb_word_store(&request->state, CALL_ANSWERED + out->committed, WB_RELEASE);
    (void)wb_port_commit(out);
    call_step(requests, request->number, WB_CALL_BACK);
}

// A former life of this task has begun it.
static void give_up(struct wb_port *requests, struct call_head *request)
{
    struct wb_port *out = request->answers;
    const uint32_t state = wb_word_load(&request->state, WB_ACQUIRE);
    void *answer;

    if ((state == CALL_BEGUN || state - CALL_ANSWERED == out->committed) && is_awaited(request) &&
        wb_port_claim(out, &answer, 0) == WB_OK)
        send(requests, request, answer, WB_ERR_GONE);
}

// False: it needs no answer, or not from us.
static bool begin_request(struct wb_service *service, struct call_head *request)
{
    if (wb_word_load(&request->state, WB_ACQUIRE) != CALL_SENT) {
        give_up(service->requests, request);
        return false;
    }
    if (!is_awaited(request) || wb_port_claim(request->answers, &service->answer, 0) != WB_OK)
        return false;
    // Release: before anything that the service does for it.
    wb_word_store(&request->state, CALL_BEGUN, WB_RELEASE);
    return true;
}

enum wb_status wb_service_take(struct wb_service *service, struct wb_request *request,
                               uint64_t timeout_ns)
{
    const uint64_t until_ns = wb_end_of(timeout_ns);
    const void *slot = NULL;

    if (service->taken != NULL)
        return WB_ERR_INVAL;
    for (;;) {
        const enum wb_status status = call_hold(service->requests, &slot, until_ns, timeout_ns);
        if (status != WB_OK)
            return status;
        call_step(service->requests, head_of(slot)->number, WB_CALL_SEEN);
        if (begin_request(service, head_of(slot)))
            break;
        (void)wb_port_release(service->requests);
    }
    struct call_head *head = head_of(slot);
    service->taken = slot;
    *request = (struct wb_request){ .data = call_data(head),
                                    .bytes = (uint32_t)head->size,
                                    .room = call_room(head->answers),
                                    .answer = call_data(service->answer) };
    call_step(service->requests, head->number, WB_CALL_FOUND);
    return WB_OK;
}

enum wb_status wb_service_answer(struct wb_service *service, int32_t result)
{
    struct call_head *request = head_of(service->taken);

    if (request == NULL || (result > 0 && (uint32_t)result > call_room(request->answers)))
        return WB_ERR_INVAL;
    call_step(service->requests, request->number, WB_CALL_SERVED);
    send(service->requests, request, service->answer, result);
    service->taken = NULL;
    return wb_port_release(service->requests);
}
