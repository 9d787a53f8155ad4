// SPDX-License-Identifier: Apache-2.0
// Calls while both ends move and kernels are stopped: each call ends once, with its own answer or
// because the service was stopped in its midst.

#include "protocol.h"
#include "service.h"

enum { CORES = 3, CALLERS = 2, CALLS = 2, ROUNDS = 20, MOVES = 10 };

struct calls {
    struct {
        struct wb_word made, right, gone;
    } of[CALLERS];
    struct wb_swapped moves[CALLERS + 1];
};

struct message {
    uint32_t caller, number;
};

static int server(struct wb_task *self)
{
    struct wb_service service;
    struct wb_request request;

    EXPECT(self, wb_service_open(self, "s", &service) == WB_OK);
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        const struct message *asked = request.data;
        EXPECT(self, request.bytes == sizeof *asked && asked->caller < CALLERS);
        *(struct message *)request.answer = (struct message){ asked->caller, asked->number + 1 };
        wb_checkpoint();
        EXPECT(self, wb_service_answer(&service, sizeof *asked) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

static void count(struct wb_word *word)
{
    wb_word_store(word, wb_word_load(word, WB_RELAXED) + 1, WB_SEQ_CST);
}

// The end of one call, of which there is one.
static void end(struct wb_task *self, struct wb_caller *caller, uint32_t number)
{
    struct calls *s = suite_shared(self);
    const uint32_t me = wb_task_index(self);
    struct wb_answer answer;

    EXPECT(self, wb_call_take(caller, &answer, WB_FOREVER) == WB_OK);
    EXPECT(self, answer.status == WB_OK ||
                     (answer.status == WB_ERR_GONE && protocol_has_death(self->system)));
    if (answer.status == WB_OK) {
        const struct message *got = answer.data;
        EXPECT(self, got->caller == me && got->number == number + 1);
        count(&s->of[me].right);
    } else {
        count(&s->of[me].gone);
    }
    EXPECT(self, wb_call_release(caller) == WB_OK);
}

// As many as may be outstanding, round after round.
static int caller(struct wb_task *self)
{
    struct calls *s = suite_shared(self);
    const uint32_t me = wb_task_index(self);
    struct wb_caller caller;

    EXPECT(self, wb_caller_open(self, "s", &caller) == WB_OK);
    for (uint32_t i = wb_word_load(&s->of[me].made, WB_SEQ_CST); i < ROUNDS * CALLS; i += CALLS) {
        for (uint32_t j = 0; j < CALLS; j++) {
            const struct message asked = { me, i + j };
            EXPECT(self,
                   wb_call_async(&caller, &asked, sizeof asked, NULL, NULL, WB_FOREVER) == WB_OK);
            wb_checkpoint();
        }
        for (uint32_t j = 0; j < CALLS; j++)
            end(self, &caller, i + j);
        wb_word_store(&s->of[me].made, i + CALLS, WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

static int mover(struct wb_task *self)
{
    struct calls *s = suite_shared(self);
    const uint32_t me = wb_task_index(self);
    struct wb_task *task = &self->system->tasks[me];

    while (wb_word_load(&s->moves[me], WB_SEQ_CST) < MOVES) {
        wb_word_add(&s->moves[me], 1, WB_SEQ_CST);
        protocol_move(self, task, (wb_task_core(task) + 1 + me) % CORES);
        wb_sleep_until(wb_now_ns() + 500);
    }
    return 0;
}

static struct wb_task *add(struct harness *h, const char *name, uint32_t index,
                           wb_task_entry *entry, uint32_t core)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .index = index,
                                                   .entry = entry,
                                                   .core = core,
                                                   .priority = entry == mover ? 12 : 0,
                                                   .migratable = entry != mover,
                                                   .restart = true });
}

static struct harness *open_calls(void)
{
    struct harness *h =
        suite_open_with(&(struct harness_config){ .cores = CORES }, sizeof(struct calls));
    struct wb_channel *requests =
        service_build(add(h, "server", 0, server, 0), "s", sizeof(struct message), CALLERS * CALLS);

    for (uint32_t i = 0; i < CALLERS; i++)
        service_caller(requests, add(h, "caller", i, caller, 1 + i), sizeof(struct message), CALLS);
    for (uint32_t i = 0; i <= CALLERS; i++)
        add(h, "mover", i, mover, i);
    return h;
}

// What a caller that was stopped has not noted it asks for again, and counts again.
static const char *check(struct harness *h, const struct fault *fault)
{
    const struct calls *s = suite_state(h);

    for (uint32_t i = 0; i < CALLERS; i++) {
        const uint32_t right = wb_word_load(&s->of[i].right, WB_SEQ_CST);
        const uint32_t gone = wb_word_load(&s->of[i].gone, WB_SEQ_CST);
        const uint32_t again = protocol_kills(fault) ? CALLS : 0;
        if (wb_word_load(&s->of[i].made, WB_SEQ_CST) != ROUNDS * CALLS)
            return "a caller has not made its calls";
        if (right + gone < ROUNDS * CALLS || right + gone > ROUNDS * CALLS + again)
            return "a call has no end, or two";
        if (gone > (protocol_kills(fault) ? 1u : 0u))
            return "more calls are gone than the service had begun";
    }
    return NULL;
}

TEST(calls_while_both_ends_move)
{
    protocol_inject(
        &(struct protocol){ .open = open_calls, .check = check, .cores = CORES, .migrations = 20 });
}
