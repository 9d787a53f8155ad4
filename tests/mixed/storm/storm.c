// SPDX-License-Identifier: Apache-2.0
// What a storm of moves and deaths must leave whole: three streams, a service and its callers, and
// a counter that four tasks share under a mutex.
//
// A task that dies while it works may do its last step again, so it and the next one of its stream
// may each see one message twice. No other message may come twice, and none may be missing. A task
// that moves does so between two steps, and repeats nothing.
#include <string.h>

#include "wb/wb.h"

enum { LANES = 3 };
enum stage { SOURCE, RELAY, SINK, STAGES };

struct storm {
    struct wb_mutex mutex;
    volatile uint32_t inside;             // the adder that has the mutex, from 1
    volatile uint32_t added, also_added;  // under the mutex
    // Of each lane, written by its source, and by its task of each stage.
    uint32_t sent[LANES], cut_off[STAGES][LANES], again[STAGES][LANES];
};

// What a task keeps wherever it begins anew.
struct kept {
    bool works;       // it is not at a checkpoint
    uint32_t number;  // the last that is done
    uint32_t begun;   // the last that was begun
};

static void expect(struct wb_task *self, bool holds, const char *what)
{
    if (!holds)
        wb_task_fail(self, what);
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    struct storm *storm = wb_app_alloc(app, sizeof *storm);

    if (storm == NULL)
        return WB_ERR_NOMEM;
    memset(storm, 0, sizeof *storm);
    wb_mutex_init(&storm->mutex);
    app->state = storm;
    return WB_OK;
}

static struct storm *shared(struct wb_task *self)
{
    return wb_task_app(self)->state;
}

// `cut_off`: counts that it died while it worked, if that is to be known.
static struct kept *begin(struct wb_task *self, uint32_t *cut_off)
{
    struct kept *kept = wb_task_state(self);

    if (kept == NULL) {
        kept = wb_malloc(sizeof *kept);
        expect(self, kept != NULL, "it has no memory for what it keeps");
        *kept = (struct kept){ 0 };
        wb_task_set_state(self, kept);
    } else if (kept->works && cut_off != NULL) {
        ++*cut_off;
    }
    kept->works = true;
    return kept;
}

// Where it may move.
static void pause_here(struct kept *kept)
{
    kept->works = false;
    wb_checkpoint();
    kept->works = true;
}

// ---- The streams --------------------------------------------------------------------------------

int source(struct wb_task *self)
{
    const uint32_t lane = wb_task_index(self);
    struct storm *storm = shared(self);
    struct kept *kept = begin(self, &storm->cut_off[SOURCE][lane]);
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(uint64_t));

    while (!wb_stopping(self) || kept->begun != kept->number) {
        kept->begun = kept->number + 1;
        const uint64_t message = kept->begun;
        if (wb_port_send(out, &message, WB_FOREVER) != WB_OK)
            break;
        kept->number = kept->begun;
        pause_here(kept);
    }
    storm->sent[lane] = kept->number;
    return 0;
}

// Returns: whether it is the next message. If it is the last one again, that was to be expected.
static bool is_next(struct wb_task *self, const struct kept *kept, uint64_t message,
                    enum stage stage)
{
    const uint32_t lane = wb_task_index(self);
    struct storm *storm = shared(self);

    if (message == (uint64_t)kept->number + 1)
        return true;
    expect(self, message <= kept->number, "a message is missing");
    expect(self, message == kept->number, "messages are out of order");
    storm->again[stage][lane]++;
    expect(self,
           storm->again[stage][lane] <=
               storm->cut_off[stage][lane] + storm->cut_off[stage - 1][lane],
           "a message has come twice");
    return false;
}

int relay(struct wb_task *self)
{
    struct kept *kept = begin(self, &shared(self)->cut_off[RELAY][wb_task_index(self)]);
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(uint64_t));
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(uint64_t));
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        uint64_t message;
        memcpy(&message, slot, sizeof message);
        if (is_next(self, kept, message, RELAY)) {
            if (wb_port_send(out, &message, WB_FOREVER) != WB_OK)
                break;
            kept->number++;
        }
        wb_port_release(in);
        pause_here(kept);
    }
    return 0;
}

int sink(struct wb_task *self)
{
    const uint32_t lane = wb_task_index(self);
    struct storm *storm = shared(self);
    struct kept *kept = begin(self, &storm->cut_off[SINK][lane]);
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(uint64_t));
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        uint64_t message;
        memcpy(&message, slot, sizeof message);
        if (is_next(self, kept, message, SINK))
            kept->number++;
        wb_port_release(in);
        pause_here(kept);
    }
    expect(self, kept->number == storm->sent[lane], "the last messages have not come");
    return 0;
}

// ---- The service --------------------------------------------------------------------------------

int service(struct wb_task *self)
{
    struct kept *kept = begin(self, NULL);
    struct wb_service service;
    struct wb_request request;

    if (wb_service_open(self, "squares", &service) != WB_OK)
        return 1;
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        uint32_t x;
        memcpy(&x, request.data, sizeof x);
        const uint64_t answer[2] = { x, (uint64_t)x * x };
        memcpy(request.answer, answer, sizeof answer);
        wb_service_answer(&service, sizeof answer);
        pause_here(kept);
    }
    return 0;
}

// No two calls have the same argument, so an answer to another one would be seen.
int caller(struct wb_task *self)
{
    struct kept *kept = begin(self, NULL);
    struct wb_caller caller;
    uint64_t answer[2];

    if (wb_caller_open(self, "squares", &caller) != WB_OK)
        return 1;
    while (!wb_stopping(self)) {
        const uint32_t x = ++kept->number;
        const int32_t bytes = wb_call(&caller, &x, sizeof x, answer, sizeof answer, WB_FOREVER);
        expect(self, bytes == WB_ERR_GONE || bytes == (int32_t)sizeof answer, "no answer");
        expect(self, bytes == WB_ERR_GONE || (answer[0] == x && answer[1] == (uint64_t)x * x),
               "a wrong answer");
        pause_here(kept);
    }
    return 0;
}

// ---- The counter --------------------------------------------------------------------------------

int adder(struct wb_task *self)
{
    struct kept *kept = begin(self, NULL);
    struct storm *storm = shared(self);
    const uint32_t me = wb_task_index(self) + 1;

    while (!wb_stopping(self)) {
        const enum wb_status status = wb_mutex_lock(&storm->mutex, WB_FOREVER);
        expect(self, status == WB_OK || status == WB_ERR_OWNER, "the mutex is not available");
        if (status == WB_ERR_OWNER) {
            storm->inside = 0;
            storm->also_added = storm->added;
        }
        expect(self, storm->inside == 0, "two have the mutex");
        expect(self, storm->added == storm->also_added, "an addition under the mutex is lost");
        storm->inside = me;
        storm->added++;
        storm->also_added++;
        expect(self, storm->inside == me, "another has come in");
        storm->inside = 0;
        wb_mutex_unlock(&storm->mutex);
        pause_here(kept);
        wb_yield();  // where all adders are on one core none of them ever waits
    }
    return 0;
}

int ticker(struct wb_task *self)
{
    struct kept *kept = begin(self, NULL);

    while (!wb_stopping(self)) {
        kept->number++;
        wb_period_wait(self);
        pause_here(kept);
    }
    return 0;
}
