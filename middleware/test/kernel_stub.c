// SPDX-License-Identifier: Apache-2.0
#include "kernel_stub.h"

#include <string.h>

#include "check.h"

enum { MEMORY_BYTES = 1 << 20 };

struct stub stub;
struct wb_word wb_kernel_need_resched = { { 1 } };

static _Alignas(4096) unsigned char own_memory[MEMORY_BYTES];
static unsigned char *memory = own_memory;
static size_t memory_bytes = sizeof own_memory;

// ---- Building -----------------------------------------------------------------------------------

void stub_use(void *other, size_t bytes)
{
    memory = other != NULL ? other : own_memory;
    memory_bytes = other != NULL ? bytes : sizeof own_memory;
}

struct wb_system *stub_open(const struct wb_system_config *config)
{
    memset(memory, 0, memory_bytes);
    memset(&stub, 0, sizeof stub);
    stub.temperature_mc = WB_NO_TEMPERATURE;
    stub_leave();
    CHECK(wb_system_init(&stub.system, memory, memory_bytes, config) == WB_OK);
    return stub.system;
}

struct wb_system *stub_system(uint32_t cores)
{
    CHECK(cores <= STUB_CORES);
    return stub_open(&(struct wb_system_config){ .cores = cores,
                                                 .tasks = 40,
                                                 .channels = 4,
                                                 .ports = 48,
                                                 .params = 4,
                                                 .core_align = WB_LINE_BYTES,
                                                 .record_events = 64,
                                                 .record_migrations = 16,
                                                 .offer_timeout_ns = 1000 });
}

static int never_runs(struct wb_task *self)
{
    (void)self;
    return 0;
}

struct wb_task *stub_task(const char *name, uint32_t core)
{
    return build_task(stub.system, name, core, 3, never_runs);
}

struct wb_channel *stub_channel(const char *name, uint32_t slots, uint32_t slot_bytes, bool mailbox)
{
    return build_channel(stub.system, name, slots, slot_bytes, mailbox);
}

// ---- Driving ------------------------------------------------------------------------------------

void stub_become(uint32_t core, struct wb_task *task)
{
    stub.core = core;
    stub.self = task;
}

void stub_leave(void)
{
    stub_become(WB_CORE_NONE, NULL);
}

uint32_t stub_serve(uint32_t core)
{
    struct wb_task *const self = stub.self;
    const uint32_t here = stub.core;

    stub_become(core, NULL);
    const uint32_t notes = wb_agent_serve(stub.system->cores[core]);
    stub_become(here, self);
    return notes;
}

void stub_start(struct wb_system *system)
{
    CHECK(wb_system_reserve(system) && wb_system_start(system, stub.now_ns) == WB_OK);
    for (uint32_t i = 0; i < system->n_cores; i++) {
        wb_word_store(&system->cores[i]->state, WB_CORE_UP, WB_SEQ_CST);
        stub_serve(i);
    }
}

void stub_run(struct wb_task *task)
{
    stub_become(wb_task_core(task), task);
    wb_task_resumed(task, stub.now_ns);
}

void stub_pause(enum wb_task_state state)
{
    struct wb_task *task = stub.self;

    stub.self = NULL;
    wb_task_paused(task, state, stub.now_ns);
}

// ---- The contract -------------------------------------------------------------------------------

struct wb_task *wb_kernel_self(void)
{
    return stub.self;
}

uint32_t wb_kernel_can(void)
{
    return ~stub.cannot & (stub.shares ? ~0u : ~(uint32_t)WB_CAN_SHARE);
}

uint32_t wb_kernel_core(void)
{
    return stub.core;
}

uint64_t wb_kernel_now_ns(void)
{
    return stub.now_ns;
}

enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    (void)task;
    stub.inits++;
    return stub.init;
}

void wb_kernel_attach(struct wb_task *task)
{
    stub.attaches++;
    stub.attached = task;
}

void wb_kernel_unblock(struct wb_task *task)
{
    stub.unblocks++;
    stub.unblocked = task;
}

// The task is away for as long as on_away() plays; somebody must have taken it in by then.
enum wb_status wb_kernel_depart(void)
{
    struct wb_task *task = stub.self;

    if (stub.depart != WB_OK)
        return stub.depart;
    if (stub.on_depart != NULL)
        stub.on_depart();
    if (!wb_departure_is_due(task))
        return WB_ERR_GONE;
    stub.self = NULL;
    wb_task_departed(task, stub.now_ns, stub.now_ns);
    if (stub.on_away != NULL)
        stub.on_away(task);
    CHECK(wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_READY);
    stub_run(task);
    return WB_OK;
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    stub.blocks++;
    CHECK(stub.on_block != NULL || until_ns != WB_FOREVER);
    if (stub.on_block != NULL)
        stub.on_block(until_ns);
    else
        stub.now_ns = until_ns;
    return stub.now_ns >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

void wb_kernel_reprioritise(struct wb_task *task)
{
    stub.reprioritises++;
    stub.reprioritised = task;
}

void wb_kernel_yield(uint32_t floor)
{
    stub.yields++;
    stub.floor = floor;
}

bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    (void)spin;
    (void)until_ns;
    stub.spins++;
    if (stub.on_spin != NULL)
        stub.on_spin();
    return false;
}

void wb_kernel_doorbell(uint32_t core)
{
    stub.rings[core]++;
}

void wb_kernel_charge(enum wb_action action, uint32_t units)
{
    stub.charged[action] += units;
}

void wb_kernel_compute(uint64_t cycles)
{
    stub.computed += cycles;
}

enum wb_status wb_kernel_watch(int file, uint32_t events, bool wake)
{
    (void)file;
    (void)events;
    stub.watches += wake && stub.file == WB_ERR_EMPTY;
    return stub.file;
}

bool wb_kernel_update(void *to, const void *from, size_t bytes)
{
    if (memcmp(to, from, bytes) == 0)
        return false;
    memcpy(to, from, bytes);
    stub.updates++;
    return true;
}

const void *wb_kernel_private(uint32_t core, const void *address)
{
    return stub.private != NULL ? stub.private(core, address) : NULL;
}

void wb_kernel_capture(void)
{
    stub.captures++;
    wb_task_captured(stub.self);
}

void wb_kernel_set_point(uint32_t point)
{
    stub.points++;
    wb_word_store(&stub.system->cores[stub.core]->point, point, WB_SEQ_CST);
}

int32_t wb_kernel_temperature_mc(void)
{
    return stub.temperature_mc;
}

enum wb_status wb_kernel_load(struct wb_task *task)
{
    (void)task;
    stub.loads++;
    if (stub.on_load != NULL)
        stub.on_load();
    return stub.load;
}

void wb_kernel_unload(struct wb_task *task)
{
    (void)task;
    stub.unloads++;
}

void wb_kernel_exit(void)
{
    wb_test_fail(__FILE__, __LINE__, "no task of this kernel runs its entry");
}

void wb_kernel_halt(void)
{
    if (!stub.may_halt)
        wb_test_fail(__FILE__, __LINE__, "the test expects that the run goes on");
    longjmp(stub.halted, 1);
}
