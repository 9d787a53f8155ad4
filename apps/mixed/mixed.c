// SPDX-License-Identifier: Apache-2.0
// What kernels of two kinds do together: a stream through a task that goes from one to the other, a
// service of one that the other calls, and a task on each side that share a mailbox, a lock, a
// mutex, a condition, a semaphore and a barrier.
#include <string.h>

#include "wb/wb.h"

struct mixed {
    uint32_t messages, calls, rounds;  // fixed
    // Of the two tasks.
    struct wb_mutex mutex;
    struct wb_condition changed;
    struct wb_semaphore turns[2];
    struct wb_barrier barrier;
    struct wb_participant participants[2];
    uint32_t locked, guarded, turn;  // under the lock, the mutex, and by turns
};

struct message {
    uint64_t sum;  // of all numbers up to this one
    uint32_t number;
};

static void expect(struct wb_task *self, bool holds, const char *what)
{
    if (!holds)
        wb_task_fail(self, what);
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    struct mixed *m = wb_app_alloc(app, sizeof *m);

    if (m == NULL)
        return WB_ERR_NOMEM;
    m->messages = (uint32_t)wb_param_number(app, "messages", 0);
    m->calls = (uint32_t)wb_param_number(app, "calls", 0);
    m->rounds = (uint32_t)wb_param_number(app, "rounds", 0);
    wb_mutex_init(&m->mutex);
    wb_condition_init(&m->changed);
    app->state = m;
    enum wb_status status = wb_barrier_init(&m->barrier, m->participants, 2);
    for (uint32_t i = 0; i < 2 && status == WB_OK; i++)
        status = wb_semaphore_init(&m->turns[i], i == 0, 1);
    return status;
}

static struct mixed *shared(struct wb_task *self)
{
    return wb_task_app(self)->state;
}

// ---- The stream ---------------------------------------------------------------------------------

int sender(struct wb_task *self)
{
    const uint32_t messages = shared(self)->messages;
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(struct message));
    struct message message = { 0 };

    while (!wb_stopping(self) && (messages == 0 || message.number < messages)) {
        message.sum += ++message.number;
        if (wb_port_send(out, &message, WB_FOREVER) != WB_OK)
            break;
        wb_checkpoint();
    }
    return 0;
}

// It begins anew wherever it comes to, and goes on with what it keeps.
struct relayed {
    uint32_t entered, passed;
};

int relay(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(struct message));
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(struct message));
    struct relayed *kept = wb_task_state(self);
    const void *slot;

    if (kept == NULL) {
        kept = wb_malloc(sizeof *kept);
        expect(self, kept != NULL, "it has no memory for what it keeps");
        *kept = (struct relayed){ 0 };
        wb_task_set_state(self, kept);
    }
    kept->entered++;
    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        if (wb_port_send(out, slot, WB_FOREVER) != WB_OK)
            break;
        wb_port_release(in);
        kept->passed++;
        wb_checkpoint();
    }
    return 0;
}

// After a death one message may come twice.
int receiver(struct wb_task *self)
{
    const uint32_t messages = shared(self)->messages;
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(struct message));
    struct message message, last = { 0 };

    while (wb_port_receive(in, &message, WB_FOREVER) == WB_OK) {
        const bool again = message.number == last.number;
        expect(self, again || message.number == last.number + 1, "a message is missing");
        expect(self, message.sum == last.sum + (again ? 0 : message.number), "a sum is wrong");
        last = message;
        wb_checkpoint();
    }
    expect(self, wb_stopping(self) || messages == 0 || last.number == messages,
           "the last messages have not come");
    return 0;
}

// ---- The service --------------------------------------------------------------------------------

int square(struct wb_task *self)
{
    struct wb_service service;
    struct wb_request request;

    if (wb_service_open(self, "squares", &service) != WB_OK)
        return 1;
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        uint32_t x;
        memcpy(&x, request.data, sizeof x);
        const uint64_t answer[2] = { (uint64_t)x * x, wb_task_core(self) };
        memcpy(request.answer, answer, sizeof answer);
        wb_service_answer(&service, sizeof answer);
        wb_checkpoint();
    }
    return 0;
}

int caller(struct wb_task *self)
{
    const uint32_t calls = shared(self)->calls;
    struct wb_caller caller;
    uint64_t answer[2];

    if (wb_caller_open(self, "squares", &caller) != WB_OK)
        return 1;
    for (uint32_t i = 0; i < calls && !wb_stopping(self); i++) {
        const int32_t bytes = wb_call(&caller, &i, sizeof i, answer, sizeof answer, WB_FOREVER);
        // The service may have been killed, and started again.
        expect(self, bytes == WB_ERR_GONE || bytes == (int32_t)sizeof answer, "no answer");
        expect(self, bytes == WB_ERR_GONE || answer[0] == (uint64_t)i * i, "a wrong answer");
        wb_checkpoint();
    }
    return 0;
}

// ---- One on each side ---------------------------------------------------------------------------

static void take_lock(struct wb_task *self, struct mixed *m)
{
    expect(self, wb_lock(&m->locked, WB_FOREVER) == WB_OK, "the lock is not available");
    m->locked++;
    wb_unlock(&m->locked);
}

// Each waits until it is its turn.
static void take_turn(struct wb_task *self, struct mixed *m, uint32_t round)
{
    const uint32_t me = wb_task_index(self);

    expect(self, wb_mutex_lock(&m->mutex, WB_FOREVER) == WB_OK, "the mutex is not available");
    while (m->guarded != 2 * round + me)
        expect(self, wb_condition_wait(&m->changed, &m->mutex, WB_FOREVER) == WB_OK,
               "the condition ends");
    m->guarded++;
    wb_condition_broadcast(&m->changed);
    wb_mutex_unlock(&m->mutex);
}

static void pass_semaphore(struct wb_task *self, struct mixed *m, uint32_t round)
{
    const uint32_t me = wb_task_index(self);

    expect(self, wb_semaphore_take(&m->turns[me], WB_FOREVER) == WB_OK, "no permit comes");
    expect(self, m->turn == 2 * round + me, "a permit has come out of turn");
    m->turn++;
    expect(self, wb_semaphore_give(&m->turns[1 - me]) == WB_OK, "there is a permit too many");
}

int pair(struct wb_task *self)
{
    struct mixed *m = shared(self);
    struct wb_port *out = wb_port_find(self, "out", 0, 8);

    for (uint32_t round = 0; round < m->rounds; round++) {
        const uint32_t message[2] = { wb_task_index(self), round };
        expect(self, wb_port_send(out, message, WB_FOREVER) == WB_OK, "the mailbox is closed");
        take_lock(self, m);
        take_turn(self, m, round);
        pass_semaphore(self, m, round);
        expect(self, wb_barrier_wait(&m->barrier, WB_FOREVER) >= 0, "the barrier ends");
        expect(self, m->locked == 2 * (round + 1), "an addition under the lock is lost");
        expect(self, wb_barrier_wait(&m->barrier, WB_FOREVER) >= 0, "the barrier ends");
    }
    return 0;
}

int collector(struct wb_task *self)
{
    const uint32_t rounds = shared(self)->rounds;
    struct wb_port *in = wb_port_find(self, "in", 0, 8);
    uint32_t message[2], came[2] = { 0 };

    while (wb_port_receive(in, message, WB_FOREVER) == WB_OK) {
        expect(self, message[0] < 2 && message[1] == came[message[0]]++, "out of order");
        wb_checkpoint();
    }
    expect(self, came[0] == rounds && came[1] == rounds, "messages of the mailbox are missing");
    return 0;
}
