// SPDX-License-Identifier: Apache-2.0
// What the command is told of the migrations that it asks for. With the stub of the unit tests, and
// what else commands.c calls noted or empty.
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "choose.h"
#include "kernel_stub.h"

static struct wb_task *task;
static struct commands commands;
static struct build build;
static struct {
    uint32_t answers;
    char id[16];
    enum wb_status status;
} told;
static bool memory_is_used_up;

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return memory_is_used_up ? NULL : __real_calloc(count, bytes);
}

void emit_migrated(struct teller *teller, const char *id, const struct wb_task *of, uint32_t core,
                   enum wb_status outcome, const char *why)
{
    (void)teller;
    (void)of;
    (void)core;
    (void)why;
    told.answers++;
    strncpy(told.id, id, sizeof told.id - 1);
    told.status = outcome;
}

void emit_set(struct teller *teller, const char *id, bool ok, const char *why)
{
    (void)teller;
    (void)id;
    (void)ok;
    (void)why;
}

void emit_status(struct teller *teller, const struct wb_system *system)
{
    (void)teller;
    (void)system;
}

bool choose_policy(struct wb_host *host, const struct plan_policy *planned, char *why, size_t bytes)
{
    (void)host;
    (void)planned;
    (void)why;
    (void)bytes;
    return false;
}

struct wb_system *wb_host_system(struct wb_host *host)
{
    (void)host;
    return stub.system;
}

enum wb_status wb_host_restart(struct wb_host *host, uint32_t core, const char **why)
{
    (void)host;
    (void)core;
    *why = "not here";
    return WB_ERR_UNABLE;
}

void wb_host_kill(struct wb_host *host)
{
    (void)host;
}

static void setup(void)
{
    stub_system(3);
    task = stub_task("task", 0);
    stub.now_ns = 100;
    stub_start(stub.system);
    stub_run(task);
    build = (struct build){ .app = &stub.system->app };
    commands = (struct commands){ .build = &build };
    memset(&told, 0, sizeof told);
    memory_is_used_up = false;
}

static void migrate(const char *id, uint32_t core)
{
    commands_obey(
        &commands,
        &(struct command){
            .verb = COMMAND_MIGRATE, .id = id, .task = "task", .core = core, .timeout_ms = 1000 });
}

static void refuse(void)
{
    stub.depart = WB_ERR_HELD;
    wb_checkpoint();
    stub.depart = WB_OK;
}

static void target_takes_it(struct wb_task *away)
{
    (void)away;
    CHECK(stub_serve(1) == 1);
}

static void move(void)
{
    stub.on_away = target_takes_it;
    wb_checkpoint();
    CHECK(wb_task_core(task) == 1);
}

static bool is_told(const char *id, enum wb_status status)
{
    return told.answers == 1 && strcmp(told.id, id) == 0 && told.status == status;
}

TEST(a_migration_is_answered_once_with_its_own_outcome)
{
    setup();
    migrate("1", 1);
    commands_emit_outcomes(&commands, false);
    CHECK(told.answers == 0);
    refuse();
    commands_emit_outcomes(&commands, false);
    commands_emit_outcomes(&commands, true);
    CHECK(is_told("1", WB_ERR_HELD));
}

TEST(the_outcome_is_not_that_of_what_a_task_asks_for_before_the_helper_looks)
{
    setup();
    migrate("1", 1);
    move();
    stub.depart = WB_ERR_HELD;
    CHECK(wb_migrate(task, 2, 1000) == WB_ERR_HELD);
    commands_emit_outcomes(&commands, false);
    CHECK(is_told("1", WB_OK));
}

TEST(a_second_command_for_the_task_does_not_take_the_first_ones_outcome)
{
    setup();
    migrate("1", 1);
    move();
    migrate("2", 2);
    CHECK(is_told("1", WB_OK));
    refuse();
    told.answers = 0;
    commands_emit_outcomes(&commands, false);
    CHECK(is_told("2", WB_ERR_HELD));
}

TEST(while_one_is_under_way_the_next_is_told_that_it_is_busy)
{
    setup();
    migrate("1", 1);
    migrate("2", 2);
    CHECK(is_told("2", WB_ERR_BUSY));
    commands_emit_outcomes(&commands, true);
    CHECK(told.answers == 2 && strcmp(told.id, "1") == 0);
}

TEST(without_memory_for_the_answer_nothing_is_asked_and_that_is_the_answer)
{
    setup();
    memory_is_used_up = true;
    migrate("1", 1);
    CHECK(is_told("1", WB_ERR_NOMEM) && !wb_migration_pending(task));
}

TEST(what_is_under_way_when_the_run_ends_is_gone)
{
    setup();
    migrate("1", 1);
    commands_emit_outcomes(&commands, true);
    CHECK(is_told("1", WB_ERR_GONE));
}
