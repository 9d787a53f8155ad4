// SPDX-License-Identifier: Apache-2.0
// A kernel killed at any instruction of a script that locks and unlocks ends no correct run: the
// next life does all again from the first lock on, or goes on after the last unlock.
// with: check.c build.c kernel_stub.c killed.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "killed.h"
#include "wb/launcher.h"

enum { MUTEX, SEMAPHORE, OBJECTS, EVENTS = 16, LOOPS = 3, CYCLES = 100, ENDS = 2, SENT = 2 };

static void write_number(void *slot, uint32_t bytes, uint64_t number)
{
    memcpy(slot, &number, bytes);
}

static const struct wb_messages messages = { .write = write_number };
static const char *const ports[] = { "out" };
static struct wb_task *task;
static struct wb_object *objects;
static struct {
    struct wb_script_event events[EVENTS];
    uint32_t n;
} written;

static struct wb_script_event *add(enum wb_script_verb verb, uint32_t object)
{
    static const uint64_t cycles = CYCLES;
    struct wb_script_event *event = &written.events[written.n++];

    *event = (struct wb_script_event){ .verb = verb, .object = object, .place = "here" };
    if (verb == WB_SCRIPT_RUN)
        event->numbers = &cycles, event->n_numbers = 1;
    return event;
}

static void begin(uint32_t times)
{
    add(WB_SCRIPT_LOOP, 0)->amount = times;
}

static void end(uint32_t begun_at)
{
    add(WB_SCRIPT_END, 0)->other = begun_at;
    written.events[begun_at].other = written.n - 1;
}

// A section that is marked by one more at the semaphore.
static void add_section(void)
{
    add(WB_SCRIPT_LOCK, MUTEX);
    add(WB_SCRIPT_RUN, 0);
    add(WB_SCRIPT_GIVE, SEMAPHORE);
    add(WB_SCRIPT_UNLOCK, MUTEX);
}

static void open(void)
{
    static const struct wb_object_config configs[OBJECTS] = {
        [MUTEX] = { .name = "m", .kind = WB_OBJECT_MUTEX },
        [SEMAPHORE] = { .name = "s", .kind = WB_OBJECT_SEMAPHORE, .most = EVENTS },
    };

    written.n = 0;
    stub_open(&(struct wb_system_config){
        .cores = 2, .tasks = 2, .channels = ENDS, .ports = 2 * ENDS, .core_align = WB_LINE_BYTES });
    wb_word_store(&wb_kernel_need_resched, 0, WB_RELAXED);
    task = stub_task("task", 0);
    task->restart = true;
    CHECK(wb_objects_add(stub.system, configs, OBJECTS, &objects) == WB_OK);
}

static void start(void)
{
    struct wb_script *script;

    add(WB_SCRIPT_EXIT, 0);
    const struct wb_script_config config = {
        .events = written.events, .ports = ports, .n_events = written.n, .n_ports = 1
    };
    CHECK(wb_script_add(stub.system, &config, objects, OBJECTS, &script) == WB_OK);
    CHECK(wb_task_set_script(task, script) == WB_OK);
    stub_start(stub.system);
    stub_run(task);
}

static void run(void)
{
    CHECK(wb_script_run(task, &messages) == 0);
}

static void live_again(void)
{
    killed_start_again(task);
    run();
}

static uint32_t sections_after_another_life(void)
{
    live_again();
    CHECK(wb_word_load(&objects[MUTEX].queue.holder, WB_SEQ_CST) == 0 && task->sync.owned == 0);
    return wb_word_load(&objects[SEMAPHORE].semaphore.value, WB_SEQ_CST);
}

// ---- One section --------------------------------------------------------------------------------

static void build_section(void)
{
    open();
    add_section();
    start();
}

static void check_section(void)
{
    const uint32_t sections = sections_after_another_life();

    CHECK(sections == 1 || sections == 2);
}

TEST(a_task_killed_at_an_unlock_does_the_section_again_or_goes_on)
{
    killed_show(&(struct killed){ build_section, run, check_section }, 6);
}

// ---- Sections of a loop -------------------------------------------------------------------------

// The first loop leaves behind how many turns it had left, which is not what the second has.
static void build_loop(void)
{
    open();
    begin(LOOPS);
    add(WB_SCRIPT_YIELD, 0);
    end(0);
    begin(LOOPS);
    add_section();
    end(3);
    start();
}

static void check_loop(void)
{
    const uint32_t sections = sections_after_another_life();

    CHECK(sections == LOOPS || sections == LOOPS + 1);
}

TEST(a_task_killed_at_an_unlock_at_the_end_of_a_loop_counts_its_turns_right)
{
    killed_show(&(struct killed){ build_loop, run, check_loop }, 6);
}

// ---- Messages through several ends --------------------------------------------------------------

static struct wb_port *in[ENDS];

static struct wb_port *open_ends(uint32_t ends)
{
    static const char *const names[ENDS] = { "c", "d" };
    struct wb_port *out = NULL;

    open();
    struct wb_task *peer = stub_task("peer", 1);
    for (uint32_t i = 0; i < ends; i++) {
        struct wb_channel *channel = stub_channel(names[i], 2 * LOOPS, sizeof(uint64_t), false);
        out = build_port(task, channel, WB_OUT);
        in[i] = build_port(peer, channel, WB_IN);
    }
    return out;
}

static void check_end(uint32_t end, uint32_t sent)
{
    uint64_t number;

    for (uint32_t k = 1; k <= sent; k++)
        CHECK(wb_port_receive(in[end], &number, 0) == WB_OK && number == k);
    CHECK(wb_port_receive(in[end], &number, 0) == WB_ERR_EMPTY);
}

// The second end is one message ahead.
static void build_sender(void)
{
    const uint64_t first = 1;
    struct wb_port *out = open_ends(ENDS);

    add(WB_SCRIPT_SEND, 0)->amount = SENT;
    start();
    CHECK(wb_port_send(out, &first, 0) == WB_OK);
}

static void check_sent(void)
{
    live_again();
    for (uint32_t i = 0; i < ENDS; i++)
        check_end(i, SENT + i);
}

TEST(a_task_killed_while_it_sends_through_several_ends_sends_each_as_often_as_it_says)
{
    killed_show(&(struct killed){ build_sender, run, check_sent }, 6);
}

// ---- Turns of a loop ----------------------------------------------------------------------------

// An event that follows itself, but for the end of its loop.
static void build_turns(void)
{
    (void)open_ends(1);
    begin(LOOPS);
    add(WB_SCRIPT_SEND, 0)->amount = 1;
    end(0);
    start();
}

static void check_turns(void)
{
    live_again();
    check_end(0, LOOPS);
}

TEST(a_task_killed_in_a_loop_of_one_message_sends_one_in_each_turn)
{
    killed_show(&(struct killed){ build_turns, run, check_turns }, 6);
}
