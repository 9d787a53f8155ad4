// SPDX-License-Identifier: Apache-2.0
// What a migration may answer besides yes, and that the task runs on where it was.

#include "suite.h"
#include "wb/launcher.h"
#include "wb/system.h"

struct state {
    struct wb_word running, release, done;
};

static const uint64_t patience_ns = 2000000;

// Reaches no checkpoint until it is released, then one after the other.
static int victim(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    wb_word_store(&s->running, 1, WB_SEQ_CST);
    while (wb_word_load(&s->release, WB_SEQ_CST) == 0)
        suite_relax();
    while (wb_word_load(&s->done, WB_SEQ_CST) == 0) {
        wb_checkpoint();
        suite_relax();
    }
    return 0;
}

static struct wb_task *find(struct wb_task *self, const char *name)
{
    return wb_task_find(wb_task_app(self), name, 0);
}

static void wait_for_victim(const struct state *s)
{
    while (wb_word_load(&s->running, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
}

// A victim on core 0 and `asker` on core 1.
static struct harness *open_pair(wb_task_entry *asker, bool migratable)
{
    struct harness *h = suite_open(2, sizeof(struct state));

    suite_task(
        h, &(struct wb_task_config){ .name = "victim", .entry = victim, .migratable = migratable });
    suite_task(
        h, &(struct wb_task_config){
               .name = "asker", .entry = asker, .core = 1, .priority = 12, .migratable = true });
    return h;
}

static int asks_in_vain(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *task = find(self, "victim");

    wait_for_victim(s);
    const uint64_t until_ns = wb_now_ns() + patience_ns;
    EXPECT(self, wb_migrate(task, 1, patience_ns) == WB_ERR_TIMEOUT);
    EXPECT(self, wb_now_ns() >= until_ns);
    EXPECT(self, wb_task_core(task) == 0 && !wb_migration_pending(task));
    // What was withdrawn is not carried out later, and the next request is.
    wb_word_store(&s->release, 1, WB_SEQ_CST);
    wb_sleep_until(wb_now_ns() + patience_ns);
    EXPECT(self, wb_task_core(task) == 0 && wb_task_migrations(task) == 0);
    EXPECT(self, wb_migrate(task, 1, WB_FOREVER) == WB_OK);
    EXPECT(self, wb_task_core(task) == 1 && wb_task_migrations(task) == 1);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    return 0;
}

TEST(a_task_that_reaches_no_checkpoint_in_time_stays_where_it_is)
{
    struct harness *h = open_pair(asks_in_vain, true);

    suite_run(h);
    harness_close(h);
}

static int asks_twice(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *task = find(self, "victim");

    wait_for_victim(s);
    EXPECT(self, wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    EXPECT(self, wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_ERR_BUSY);
    EXPECT(self, wb_migrate(task, 1, WB_FOREVER) == WB_ERR_BUSY);
    EXPECT(self, wb_migrate(task, 0, WB_FOREVER) == WB_ERR_BUSY);
    wb_word_store(&s->release, 1, WB_SEQ_CST);
    while (wb_migration_pending(task))
        wb_sleep_until(wb_now_ns() + 1000000);
    EXPECT(self, wb_task_core(task) == 1 && wb_task_migrations(task) == 1);
    EXPECT(self, wb_migrate(task, 0, WB_FOREVER) == WB_OK);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    return 0;
}

TEST(a_second_migration_is_busy_until_the_first_is_over)
{
    struct harness *h = open_pair(asks_twice, true);

    suite_run(h);
    harness_close(h);
}

static int asks_for_the_pinned(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *task = find(self, "victim");

    wb_word_store(&s->release, 1, WB_SEQ_CST);
    EXPECT(self, wb_migrate(task, 1, WB_FOREVER) == WB_ERR_PINNED);
    EXPECT(self, wb_task_core(task) == 0);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    return 0;
}

TEST(a_pinned_task_is_not_moved)
{
    struct harness *h = open_pair(asks_for_the_pinned, false);

    suite_run(h);
    harness_close(h);
}

static int asks_for_nonsense(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *task = find(self, "victim");

    wb_word_store(&s->release, 1, WB_SEQ_CST);
    EXPECT(self, wb_migrate(task, 2, WB_FOREVER) == WB_ERR_INVAL);
    EXPECT(self, wb_migrate(task, WB_CORE_NONE, WB_FOREVER) == WB_ERR_INVAL);
    EXPECT(self, wb_migrate(self, 2, WB_FOREVER) == WB_ERR_INVAL);
    EXPECT(self, wb_migrate(task, 0, WB_FOREVER) == WB_OK);
    EXPECT(self, wb_task_migrations(task) == 0);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    while (wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) != WB_TASK_ENDED)
        wb_sleep_until(wb_now_ns() + 10000);
    EXPECT(self, wb_migrate(task, 1, WB_FOREVER) == WB_ERR_GONE);
    EXPECT(self, !wb_migration_pending(task));
    return 0;
}

TEST(no_task_moves_to_a_core_that_does_not_exist_nor_after_its_end)
{
    struct harness *h = open_pair(asks_for_nonsense, true);

    suite_run(h);
    harness_close(h);
}

// ---- The request comes, and the task ends without another checkpoint ----------------------------

static int ends(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    wb_word_store(&s->running, 1, WB_SEQ_CST);
    while (wb_word_load(&s->release, WB_SEQ_CST) == 0)
        suite_relax();
    return 0;
}

static int asks_the_last_moment(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *task = find(self, "victim");

    wait_for_victim(s);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    EXPECT(self, wb_migrate(task, 1, WB_FOREVER) == WB_ERR_GONE);
    EXPECT(self, !wb_migration_pending(task));
    return 0;
}

static int releases(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    while (!wb_migration_pending(find(self, "victim")))
        wb_sleep_until(wb_now_ns() + 10000);
    wb_word_store(&s->release, 1, WB_SEQ_CST);
    return 0;
}

TEST(a_task_that_ends_before_its_checkpoint_is_gone)
{
    struct harness *h = suite_open(2, sizeof(struct state));

    suite_task(h, &(struct wb_task_config){ .name = "victim", .entry = ends, .migratable = true });
    suite_task(
        h, &(struct wb_task_config){ .name = "asker", .entry = asks_the_last_moment, .core = 1 });
    suite_task(h, &(struct wb_task_config){ .name = "releaser", .entry = releases, .core = 1 });
    suite_run(h);
    harness_close(h);
}

// ---- Something of the kernel is held ------------------------------------------------------------

static int holder(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    if (!harness_hold(self, true))
        return 0;
    wb_word_store(&s->running, 1, WB_SEQ_CST);
    for (uint32_t i = 0; i < 8; i++)
        EXPECT(self, wb_migrate(self, 1, WB_FOREVER) == WB_ERR_HELD);
    EXPECT(self, wb_task_core(self) == 0 && wb_task_migrations(self) == 0);
    EXPECT(self, harness_hold(self, false));
    suite_hop(self);
    return 0;
}

TEST(a_task_that_holds_something_of_its_kernel_stays)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    const struct state *s = suite_state(h);

    suite_task(h,
               &(struct wb_task_config){ .name = "holder", .entry = holder, .migratable = true });
    suite_run(h);
    if (wb_word_load(&s->running, WB_SEQ_CST) == 0)
        wb_test_skip("nothing of this kernel can be held");
    harness_close(h);
}

// ---- What the kernel cannot do ------------------------------------------------------------------

static int never_runs(struct wb_task *self)
{
    (void)self;
    return 0;
}

static enum wb_status added(struct harness *h, const char *name, enum wb_mode mode, uint32_t every)
{
    struct wb_task *task;

    return wb_task_add(harness_system(h),
                       &(struct wb_task_config){ .name = name,
                                                 .entry = never_runs,
                                                 .priority = SUITE_PRIORITY,
                                                 .mode = mode,
                                                 .checkpoint_every = every,
                                                 .heap_bytes = 1024 },
                       &task);
}

static enum wb_status answer(enum wb_capability capability)
{
    return (wb_kernel_can() & capability) != 0 ? WB_OK : WB_ERR_UNABLE;
}

TEST(what_a_kernel_cannot_do_is_refused_before_it_starts)
{
    static const struct wb_point points[] = { { .hz = 100, .active_uw = 1 },
                                              { .hz = 200, .active_uw = 2 } };
    struct harness *h = suite_open(1, sizeof(struct state));
    struct wb_core *const core = harness_system(h)->cores[0];

    CHECK(added(h, "plain", WB_HANDOFF, 0) == WB_OK);
    CHECK(added(h, "replicated", WB_REPLICATE, 0) == answer(WB_CAN_REPLICATE));
    CHECK(added(h, "recreated", WB_RECREATE, 0) == answer(WB_CAN_RECREATE));
    CHECK(added(h, "kept", WB_HANDOFF, 1) == answer(WB_CAN_CAPTURE));
    CHECK(wb_core_set_points(core, points, 2, 0) == answer(WB_CAN_SET_POINTS));
    harness_close(h);
}

TEST(a_kernel_has_private_memory_if_it_says_so)
{
    struct harness *h = suite_open(1, sizeof(struct state));
    const bool has = harness_private(h, 0, 1024) != NULL;

    CHECK(has == ((wb_kernel_can() & WB_CAN_REPLICATE) != 0));
    harness_close(h);
}
