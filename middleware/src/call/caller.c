// SPDX-License-Identifier: Apache-2.0
// The calling end of a call.
//
// A service answers the calls of one caller in their order, so the next answer is of the oldest
// call that has not ended. Where it is of a later one, those before it have no answer any more:
// they are `gone`, as all are once the service is over.

#include "../word/mem.h"
#include "call.h"

// Calls from here on are of another session. What has been answered until now is dropped; after it
// comes one at most, which the service was about to send: there is a slot for it.
static void begin_session(struct wb_caller *caller)
{
    struct wb_port *answers = caller->answers;
    const void *slot;

    caller->session = wb_word_load(&answers->session, WB_RELAXED) + 1;
    caller->life = wb_word_load(&answers->task->incarnation, WB_RELAXED);
    caller->gone = caller->made;
    // seq_cst against the service: it sees the new session, or has sent before we look.
    wb_word_store(&answers->session, caller->session, WB_SEQ_CST);
    while (wb_port_hold(answers, &slot, 0) == WB_OK)
        (void)wb_port_release(answers);
}

// A task that goes on from an image has forgotten what it has called for since.
static inline void look_for_death(struct wb_caller *caller)
{
    if (__builtin_expect(
            wb_word_load(&caller->answers->task->incarnation, WB_RELAXED) != caller->life, 0))
        begin_session(caller);
}

enum wb_status wb_caller_open(struct wb_task *self, const char *name, struct wb_caller *caller)
{
    struct wb_port *requests = wb_port_find_any(self, name, 0),
                   *answers = wb_port_find_any(self, name, 1);

    if (requests == NULL || answers == NULL || requests->direction != WB_OUT ||
        requests->channel->tickets == NULL || answers->direction != WB_IN ||
        requests->channel->slot_bytes <= WB_CALL_HEAD_BYTES || answers->channel->slots < 2)
        return WB_ERR_INVAL;
    const uint32_t most = answers->channel->slots - 1;
    caller->requests = requests;
    caller->answers = answers;
    caller->most = most < WB_CALLS_MAX ? most : WB_CALLS_MAX;
    caller->made = caller->ended = caller->to_take = 0;
    caller->claimed = NULL;
    caller->held = NULL;
    caller->given = caller->completes = false;
    begin_session(caller);
    return WB_OK;
}

uint32_t wb_call_room(const struct wb_caller *caller)
{
    return call_room(caller->requests);
}

uint32_t wb_call_outstanding(const struct wb_caller *caller)
{
    return caller->made - caller->ended;
}

// ---- How calls end ------------------------------------------------------------------------------

static inline struct wb_pending *pending(struct wb_caller *caller, uint32_t number)
{
    return &caller->pending[number % WB_CALLS_MAX];
}

static inline bool is_gone(const struct wb_caller *caller, uint32_t number)
{
    return (int32_t)(caller->gone - number) >= 0;
}

// An answer has come, to call `number` or a later one: else it is dropped.
static inline void receive(struct wb_caller *caller, const struct call_head *head, uint32_t number)
{
    if (head->session == caller->session && (int32_t)(head->number - number) >= 0) {
        caller->held = head;
        caller->gone = head->number - 1;
    } else {
        (void)wb_port_release(caller->answers);
    }
}

// Waits until it is known how the oldest call has ended.
static enum wb_status await(struct wb_caller *caller, uint32_t number, uint64_t until_ns,
                            uint64_t timeout_ns)
{
    const void *slot = NULL;

    look_for_death(caller);
    while (!is_gone(caller, number) && caller->held == NULL) {
        const enum wb_status status = call_hold(caller->answers, &slot, until_ns, timeout_ns);
        if (status == WB_ERR_GONE)
            caller->gone = caller->made;
        else if (status != WB_OK)
            return status;
        else
            receive(caller, slot, number);
    }
    return WB_OK;
}

// Ends the oldest call; the slot of its answer, if there is one, is held from here on.
static enum wb_status end_oldest(struct wb_caller *caller, struct wb_answer *answer,
                                 uint64_t until_ns, uint64_t timeout_ns)
{
    const uint32_t number = caller->ended + 1;
    const enum wb_status status = await(caller, number, until_ns, timeout_ns);

    if (status != WB_OK)
        return status;
    caller->ended = number;
    *answer = (struct wb_answer){ .number = number, .status = WB_ERR_GONE };
    caller->given = true;
    caller->empty = is_gone(caller, number);
    if (caller->empty)
        return WB_OK;
    const struct call_head *head = caller->held;
    call_step(caller->requests, number, WB_CALL_RECEIVED);
    if (head->size < 0)
        answer->status = (enum wb_status)head->size;
    else
        *answer =
            (struct wb_answer){ .number = number, .data = head + 1, .bytes = (uint32_t)head->size };
    return WB_OK;
}

static void give_back(struct wb_caller *caller)
{
    caller->given = false;
    if (caller->empty)
        return;
    call_step(caller->requests, caller->ended, WB_CALL_COPIED_OUT);
    caller->held = NULL;
    (void)wb_port_release(caller->answers);
}

// A call has ended whose answer nobody takes.
static void complete(struct wb_caller *caller, const struct wb_answer *answer)
{
    const struct wb_pending call = *pending(caller, answer->number);

    if (!call.dropped) {
        caller->completes = true;
        call.done(answer, call.arg);
        caller->completes = false;
    }
    give_back(caller);
}

static bool is_to_take(struct wb_caller *caller, uint32_t number)
{
    const struct wb_pending *call = pending(caller, number);

    return call->done == NULL && !call->dropped;
}

// Ends calls up to one whose answer is to be taken.
static enum wb_status end_next(struct wb_caller *caller, struct wb_answer *answer,
                               uint64_t until_ns, uint64_t timeout_ns)
{
    for (;;) {
        const enum wb_status status = end_oldest(caller, answer, until_ns, timeout_ns);
        if (status != WB_OK)
            return status;
        if (is_to_take(caller, answer->number))
            break;
        complete(caller, answer);
    }
    caller->to_take--;
    return WB_OK;
}

// ---- Calling ------------------------------------------------------------------------------------

// Ends calls that are outstanding while there are as many as there may be.
static enum wb_status make_room(struct wb_caller *caller, uint64_t timeout_ns)
{
    struct wb_answer answer;

    if (wb_call_outstanding(caller) < caller->most)
        return WB_OK;
    const uint64_t until_ns = wb_end_of(timeout_ns);
    while (wb_call_outstanding(caller) >= caller->most) {
        if (caller->completes || caller->given || is_to_take(caller, caller->ended + 1))
            return WB_ERR_FULL;
        const enum wb_status status = end_oldest(caller, &answer, until_ns, timeout_ns);
        if (status != WB_OK)
            return status == WB_ERR_EMPTY ? WB_ERR_FULL : status;
        complete(caller, &answer);
    }
    return WB_OK;
}

enum wb_status wb_call_begin(struct wb_caller *caller, void **request, uint64_t timeout_ns)
{
    void *slot;

    if (caller->claimed != NULL)
        return WB_ERR_INVAL;
    look_for_death(caller);
    enum wb_status status = make_room(caller, timeout_ns);
    if (status != WB_OK)
        return status;
    call_step(caller->requests, caller->made + 1, WB_CALL_BEGUN);
    status = wb_port_claim(caller->requests, &slot, timeout_ns);
    if (status != WB_OK)
        return status;
    caller->claimed = slot;
    *request = call_data(slot);
    return WB_OK;
}

enum wb_status wb_call_commit(struct wb_caller *caller, uint32_t bytes, wb_call_done *done,
                              void *arg)
{
    struct call_head *head = caller->claimed;

    if (head == NULL || bytes > wb_call_room(caller))
        return WB_ERR_INVAL;
    const uint32_t number = ++caller->made;
    call_step(caller->requests, number, WB_CALL_COPIED_IN);
    head->number = number;
    head->session = caller->session;
    head->size = (int32_t)bytes;
    head->answers = caller->answers->channel->senders;
    // Nobody sees it before it is sent.
    wb_word_init(&head->state, CALL_SENT);
    *pending(caller, number) = (struct wb_pending){ .done = done, .arg = arg };
    caller->to_take += done == NULL;
    caller->claimed = NULL;
    call_step(caller->requests, number, WB_CALL_DESCRIBED);
    (void)wb_port_commit(caller->requests);
    call_step(caller->requests, number, WB_CALL_NOTIFIED);
    return WB_OK;
}

enum wb_status wb_call_async(struct wb_caller *caller, const void *request, uint32_t bytes,
                             wb_call_done *done, void *arg, uint64_t timeout_ns)
{
    void *data;

    if (bytes > wb_call_room(caller))
        return WB_ERR_INVAL;
    const enum wb_status status = wb_call_begin(caller, &data, timeout_ns);
    if (status != WB_OK)
        return status;
    wb_kernel_charge(WB_ACTION_SEND, call_charged(caller->requests, bytes));
    memcpy(data, request, bytes);
    return wb_call_commit(caller, bytes, done, arg);
}

// ---- Answers ------------------------------------------------------------------------------------

enum wb_status wb_call_take(struct wb_caller *caller, struct wb_answer *answer, uint64_t timeout_ns)
{
    if (caller->completes)
        return WB_ERR_BUSY;
    if (caller->to_take == 0 || caller->given)
        return WB_ERR_INVAL;
    return end_next(caller, answer, wb_end_of(timeout_ns), timeout_ns);
}

enum wb_status wb_call_release(struct wb_caller *caller)
{
    if (!caller->given || caller->completes)
        return WB_ERR_INVAL;
    give_back(caller);
    return WB_OK;
}

int32_t wb_call_complete(struct wb_caller *caller, uint64_t timeout_ns)
{
    const uint64_t until_ns = wb_end_of(timeout_ns);
    struct wb_answer answer;
    int32_t n = 0;

    if (caller->completes)
        return WB_ERR_BUSY;
    if (wb_call_outstanding(caller) == 0 || caller->given || is_to_take(caller, caller->ended + 1))
        return WB_ERR_INVAL;
    while (wb_call_outstanding(caller) != 0 && !is_to_take(caller, caller->ended + 1)) {
        const enum wb_status status =
            end_oldest(caller, &answer, until_ns, n == 0 ? timeout_ns : 0);
        if (status != WB_OK)
            return n == 0 ? (int32_t)status : n;
        n += !pending(caller, answer.number)->dropped;
        complete(caller, &answer);
    }
    return n;
}

// ---- Both ---------------------------------------------------------------------------------------

static int32_t copy_out(const struct wb_port *answers, const struct wb_answer *got, void *answer,
                        uint32_t room)
{
    if (got->status != WB_OK)
        return got->status;
    if (got->bytes > room)
        return WB_ERR_NOMEM;
    wb_kernel_charge(WB_ACTION_RECEIVE, call_charged(answers, got->bytes));
    memcpy(answer, got->data, got->bytes);
    return (int32_t)got->bytes;
}

int32_t wb_call(struct wb_caller *caller, const void *request, uint32_t bytes, void *answer,
                uint32_t room, uint64_t timeout_ns)
{
    const uint64_t until_ns = wb_end_of(timeout_ns);
    struct wb_answer got;

    if (caller->completes || caller->to_take != 0 || caller->given)
        return WB_ERR_BUSY;
    enum wb_status status = wb_call_async(caller, request, bytes, NULL, NULL, timeout_ns);
    if (status != WB_OK)
        return status;
    status = end_next(caller, &got, until_ns, timeout_ns);
    if (status != WB_OK) {
        pending(caller, caller->made)->dropped = true;
        caller->to_take--;
        return status;
    }
    const int32_t result = copy_out(caller->answers, &got, answer, room);
    give_back(caller);
    return result;
}
