// SPDX-License-Identifier: Apache-2.0
// Mutexes and semaphores whose holders and waiters move, and are stopped while they hold.

#include "protocol.h"

enum { CORES = 3, USERS = 3, ROUNDS = 150, MOVES = 20, PING_PONGS = 100 };
enum { PATIENCE_NS = 80000000 };  // longer than any doorbell is late

struct state {
    struct wb_word moves;  // protocol_mover()
    struct wb_mutex mutex;
    struct wb_semaphore there, back;
    struct wb_word cut_short;
    struct wb_swapped rounds[USERS], repairs;
    uint32_t first, second;  // guarded by the mutex: equal whenever it is free
    struct wb_mutex inner;
};

static struct harness *open_cores(void)
{
    struct harness *h =
        suite_open_with(&(struct harness_config){ .cores = CORES }, sizeof(struct state));
    struct state *s = suite_state(h);

    wb_mutex_init(&s->mutex);
    CHECK(wb_semaphore_init(&s->there, 0, 1) == WB_OK);
    CHECK(wb_semaphore_init(&s->back, 0, 1) == WB_OK);
    return h;
}

// ---- A mutex ------------------------------------------------------------------------------------

// Whoever takes over repairs what it guards.
static int user(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_swapped *rounds = &s->rounds[wb_task_index(self)];

    while (wb_word_load(rounds, WB_SEQ_CST) < ROUNDS) {
        const enum wb_status status = wb_mutex_lock(&s->mutex, WB_FOREVER);
        EXPECT(self, status == WB_OK || status == WB_ERR_OWNER);
        if (status == WB_ERR_OWNER) {
            wb_word_add(&s->repairs, 1, WB_SEQ_CST);
            s->second = s->first;
        }
        EXPECT(self, s->first == s->second);
        s->first++;
        wb_checkpoint();
        s->second++;
        wb_word_add(rounds, 1, WB_SEQ_CST);
        EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

static struct harness *open_users(void)
{
    struct harness *h = open_cores();

    for (uint32_t i = 0; i < USERS; i++)
        protocol_task(h, "user", i, user, false);
    protocol_mover(h, MOVES);
    return h;
}

static const char *check_users(struct harness *h, const struct fault *fault)
{
    const struct state *s = suite_state(h);
    const uint32_t killed = protocol_kills(fault);

    if (s->first - s->second > killed)
        return "two were inside at a time";
    if (s->first < USERS * ROUNDS || s->first > USERS * ROUNDS + killed)
        return "a round is missing";
    if (wb_word_load(&s->repairs, WB_SEQ_CST) > killed)
        return "an owner was lost without a death";
    return NULL;
}

TEST(a_mutex_whose_holders_move)
{
    protocol_inject(&(struct protocol){
        .open = open_users, .check = check_users, .cores = CORES, .migrations = 10 });
}

// ---- Semaphores ---------------------------------------------------------------------------------

// A permit that somebody took and was stopped with is gone: that ends the game.
static bool goes_on(struct wb_task *self, enum wb_status status)
{
    struct state *s = suite_shared(self);

    if (status == WB_OK)
        return true;
    EXPECT(self, protocol_has_death(self->system));
    wb_word_store(&s->cut_short, 1, WB_SEQ_CST);
    return false;
}

static int play(struct wb_task *self, struct wb_semaphore *give, struct wb_semaphore *take,
                bool begins)
{
    struct state *s = suite_shared(self);
    struct wb_swapped *rounds = &s->rounds[wb_task_index(self)];

    for (; wb_word_load(rounds, WB_SEQ_CST) < PING_PONGS; wb_word_add(rounds, 1, WB_SEQ_CST)) {
        if (begins && !goes_on(self, wb_semaphore_give(give)))
            return 0;
        if (!goes_on(self, wb_semaphore_take(take, PATIENCE_NS)))
            return 0;
        if (!begins && !goes_on(self, wb_semaphore_give(give)))
            return 0;
        wb_checkpoint();
    }
    return 0;
}

static int server(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    return play(self, &s->there, &s->back, true);
}

static int returner(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    return play(self, &s->back, &s->there, false);
}

static struct harness *open_players(void)
{
    struct harness *h = open_cores();

    protocol_task(h, "server", 0, server, false);
    protocol_task(h, "returner", 1, returner, false);
    protocol_mover(h, MOVES);
    return h;
}

static const char *check_players(struct harness *h, const struct fault *fault)
{
    const struct state *s = suite_state(h);

    (void)fault;
    if (wb_word_load(&s->cut_short, WB_SEQ_CST) != 0)
        return NULL;
    if (wb_word_load(&s->rounds[0], WB_SEQ_CST) != PING_PONGS ||
        wb_word_load(&s->rounds[1], WB_SEQ_CST) != PING_PONGS)
        return "a permit is missing, and no task got an error";
    return NULL;
}

TEST(semaphores_between_tasks_that_move)
{
    protocol_inject(&(struct protocol){
        .open = open_players, .check = check_players, .cores = CORES, .migrations = 10 });
}

// ---- Inherited priorities -----------------------------------------------------------------------

enum { ROUNDS_OF_TWO = 12, PAUSE_NS = 700 };

static void take(struct wb_task *self, struct wb_mutex *mutex)
{
    const enum wb_status status = wb_mutex_lock(mutex, WB_FOREVER);

    EXPECT(self, status == WB_OK || (status == WB_ERR_OWNER && protocol_has_death(self->system)));
}

// Whoever waits for the inner mutex has told its holder by the time it sleeps.
static void expect_urgency_of_waiters(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    const struct wb_system *system = self->system;

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        const uint32_t owner_state = wb_word_load(&task->owner_state, WB_SEQ_CST);
        if (wb_task_state_of(owner_state) == WB_TASK_BLOCKED &&
            !wb_sync_must_reevaluate(&self->sync) &&
            wb_word_load(&task->sync.waits_for, WB_SEQ_CST) == &s->inner.queue)
            EXPECT(self, wb_sync_priority(&self->sync) >= wb_sync_priority(&task->sync));
    }
}

// Gives back one of two mutexes, for each of which somebody more urgent waits or comes to wait.
static int holder(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_swapped *rounds = &s->rounds[wb_task_index(self)];

    for (; wb_word_load(rounds, WB_SEQ_CST) < ROUNDS_OF_TWO; wb_word_add(rounds, 1, WB_SEQ_CST)) {
        take(self, &s->mutex);
        take(self, &s->inner);
        suite_compute(PAUSE_NS);
        EXPECT(self, wb_mutex_unlock(&s->mutex) == WB_OK);
        wb_checkpoint();
        expect_urgency_of_waiters(self);
        EXPECT(self, wb_mutex_unlock(&s->inner) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

static void use(struct wb_task *self, struct wb_mutex *mutex)
{
    struct state *s = suite_shared(self);
    struct wb_swapped *rounds = &s->rounds[wb_task_index(self)];

    for (; wb_word_load(rounds, WB_SEQ_CST) < ROUNDS_OF_TWO; wb_word_add(rounds, 1, WB_SEQ_CST)) {
        wb_sleep_until(wb_now_ns() + PAUSE_NS);
        take(self, mutex);
        EXPECT(self, wb_mutex_unlock(mutex) == WB_OK);
    }
}

static int user_of_outer(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    use(self, &s->mutex);
    return 0;
}

static int user_of_inner(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    use(self, &s->inner);
    return 0;
}

static struct harness *open_two_mutexes(void)
{
    struct harness *h = open_cores();
    struct state *s = suite_state(h);

    wb_mutex_init(&s->inner);
    protocol_task(h, "holder", 0, holder, false);
    protocol_task(h, "outer", 1, user_of_outer, false);
    protocol_task(h, "inner", 2, user_of_inner, false);
    return h;
}

static const char *check_rounds(struct harness *h, const struct fault *fault)
{
    const struct state *s = suite_state(h);

    (void)fault;
    for (uint32_t i = 0; i < USERS; i++)
        if (wb_word_load(&s->rounds[i], WB_SEQ_CST) != ROUNDS_OF_TWO)
            return "a round is missing";
    return NULL;
}

TEST(a_holder_is_as_urgent_as_who_comes_to_wait_while_it_gives_back_another)
{
    protocol_inject(
        &(struct protocol){ .open = open_two_mutexes, .check = check_rounds, .cores = CORES });
}
