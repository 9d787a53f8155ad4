// SPDX-License-Identifier: Apache-2.0
// Conditions and barriers whose tasks move, also where they wait, and are stopped anywhere.

#include "protocol.h"

enum { CORES = 3, USERS = 3, THINGS = 60, ROUNDS = 60, MOVES = 20 };

struct state {
    struct wb_word moves;  // protocol_mover()
    struct wb_mutex mutex;
    struct wb_condition room, there;
    struct wb_word thing, made, over;  // guarded by the mutex
    struct wb_barrier barrier;
    struct wb_participant participants[USERS];
    struct wb_word passed[USERS];
    struct wb_swapped let_through;
};

static struct harness *open_cores(void)
{
    struct harness *h =
        suite_open_with(&(struct harness_config){ .cores = CORES }, sizeof(struct state));
    struct state *s = suite_state(h);

    wb_mutex_init(&s->mutex);
    wb_condition_init(&s->room);
    wb_condition_init(&s->there);
    CHECK(wb_barrier_init(&s->barrier, s->participants, USERS) == WB_OK);
    return h;
}

// ---- Conditions ---------------------------------------------------------------------------------

// What the mutex guards is good at any time.
static void got(struct wb_task *self, enum wb_status status)
{
    EXPECT(self, status == WB_OK || (status == WB_ERR_OWNER && protocol_has_death(self->system)));
}

static void put(struct wb_word *word, uint32_t value)
{
    wb_word_store(word, value, WB_SEQ_CST);
}

static uint32_t is(const struct wb_word *word)
{
    return wb_word_load(word, WB_SEQ_CST);
}

// There is room for one thing, so a signal that is lost stops them all.
static int maker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    got(self, wb_mutex_lock(&s->mutex, WB_FOREVER));
    while (is(&s->made) < THINGS) {
        while (is(&s->thing) != 0)
            got(self, wb_condition_wait(&s->room, &s->mutex, WB_FOREVER));
        put(&s->made, is(&s->made) + 1);
        put(&s->thing, 1);
        wb_condition_signal(&s->there);
    }
    put(&s->over, 1);
    wb_condition_broadcast(&s->there);
    EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
    return 0;
}

static int taker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (;;) {
        got(self, wb_mutex_lock(&s->mutex, WB_FOREVER));
        while (is(&s->thing) == 0 && is(&s->over) == 0)
            got(self, wb_condition_wait(&s->there, &s->mutex, WB_FOREVER));
        const bool goes_on = is(&s->thing) != 0;
        put(&s->thing, 0);
        wb_condition_signal(&s->room);
        EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
        if (!goes_on)
            return 0;
        wb_checkpoint();
    }
}

static struct harness *open_takers(void)
{
    struct harness *h = open_cores();

    protocol_task(h, "maker", 0, maker, true);
    protocol_task(h, "taker", 1, taker, true);
    protocol_task(h, "taker", 2, taker, true);
    protocol_mover(h, MOVES);
    return h;
}

static const char *check_things(struct harness *h, const struct fault *fault)
{
    const struct state *s = suite_state(h);

    (void)fault;
    return is(&s->made) == THINGS && is(&s->thing) == 0 ? NULL : "a thing is left";
}

TEST(conditions_of_tasks_that_move)
{
    protocol_inject(&(struct protocol){
        .open = open_takers, .check = check_things, .cores = CORES, .migrations = 10 });
}

// ---- Barriers -----------------------------------------------------------------------------------

// Nobody is let through before all have come, and all are told the same.
static int comer(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_word *passed = &s->passed[wb_task_index(self)];

    while (is(passed) < ROUNDS) {
        const int status = wb_barrier_wait(&s->barrier, WB_FOREVER);
        EXPECT(self, status >= 0 || protocol_has_death(self->system));
        EXPECT(self, status >= 0 || status == WB_ERR_OWNER || status == WB_ERR_GONE);
        if (status == WB_ERR_GONE)
            return 0;
        wb_word_add(&s->let_through, status == 1, WB_SEQ_CST);
        for (uint32_t i = 0; i < USERS; i++)
            EXPECT(self, is(&s->passed[i]) >= is(passed) || protocol_has_death(self->system));
        put(passed, is(passed) + 1);
        wb_checkpoint();
    }
    return 0;
}

static struct harness *open_comers(void)
{
    struct harness *h = open_cores();
    struct state *s = suite_state(h);

    for (uint32_t i = 0; i < USERS; i++)
        CHECK(wb_barrier_join(&s->barrier, protocol_task(h, "comer", i, comer, true)) == WB_OK);
    protocol_mover(h, MOVES);
    return h;
}

static const char *check_rounds(struct harness *h, const struct fault *fault)
{
    const struct state *s = suite_state(h);
    const uint32_t killed = protocol_kills(fault);

    for (uint32_t i = 0; i < USERS; i++)
        if (is(&s->passed[i]) + killed < ROUNDS)
            return "a round is missing";
    if (killed == 0 && wb_word_load(&s->let_through, WB_SEQ_CST) != ROUNDS)
        return "not one of them in each round has let all through";
    return NULL;
}

TEST(barriers_of_tasks_that_move)
{
    protocol_inject(&(struct protocol){
        .open = open_comers, .check = check_rounds, .cores = CORES, .migrations = 10 });
}
