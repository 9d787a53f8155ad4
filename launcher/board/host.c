// SPDX-License-Identifier: Apache-2.0
// The launcher's functions (host.h) for the kernels of a board: it runs on the first core, outside
// of the kernels, and the application is linked with it.

#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "board.h"
#include "board_host.h"
#include "death_report.h"
#include "heap_hooks.h"
#include "supervisor.h"
#include "wb/launcher.h"
#include "wb/policy.h"
#include "wb/system.h"

enum {
    OFFER_NS = 50000000,
    WATCHDOG_MS = 1000,
    CORES = 32,  // of a board, at most: all of it is zeroed at each start
    EVENTS = 1 << 13,
    HOOK_HEAP_BYTES = 64 << 10
};

struct heartbeat {
    uint32_t last, polls;  // looks: how often it has been the same since then
    uint64_t last_ns;
};

struct wb_host {
    struct wb_host_config config;
    struct wb_system *system;
    size_t memory_bytes;
    uint64_t watchdog_ns;
    uint32_t least_polls;  // how often the launcher must have looked within that time
    struct heartbeat heartbeats[CORES];
    const char *killed[CORES];  // by what; NULL: it lives
    bool told[CORES];           // the death has been handled
    uint64_t end_ns;            // when all kernels had ended; 0: not yet
    bool started, fault_reported, end_reported, over;
};

static const char watchdog[] = "watchdog";

static struct wb_host the_host;
static struct wb_system *volatile the_system __attribute__((section(".gvm")));

// ---- Laying out ---------------------------------------------------------------------------------

bool hooks_see(const void *block)
{
    return board_owns(block);
}

enum wb_status wb_host_open(struct wb_host **out, const struct wb_host_config *config)
{
    struct wb_host *host = &the_host;
    size_t bytes;

    *host = (struct wb_host){ .config = *config };
    wb_host_watch(host, WATCHDOG_MS);
    if (host->config.system.core_align == 0)
        host->config.system.core_align = WB_LINE_BYTES;
    if (host->config.system.offer_timeout_ns == 0)
        host->config.system.offer_timeout_ns = OFFER_NS;
    // A board has little memory, and a line that takes few events anyway.
    if (host->config.system.record_events > EVENTS)
        host->config.system.record_events = EVENTS;
    board_free_stacks();
    board_free_private();
    void *memory = board_memory(&bytes);
    host->memory_bytes = bytes;
    errno = EINVAL;
    if (config->system.cores > board_cores() || config->system.cores > CORES)
        return WB_ERR_INVAL;
    errno = ENOMEM;
    if (wb_system_bytes(&host->config.system) + config->memory_bytes + 2 * HOOK_HEAP_BYTES > bytes)
        return WB_ERR_NOMEM;
    *out = host;
    const enum wb_status status =
        wb_system_init(&host->system, memory, bytes, &host->config.system);
    return status != WB_OK || hooks_open(host->system, HOOK_HEAP_BYTES) ? status : WB_ERR_NOMEM;
}

struct wb_system *wb_host_system(struct wb_host *host)
{
    return host->system;
}

size_t wb_host_gvm_bytes(const struct wb_host *host)
{
    return host->memory_bytes;
}

void *wb_host_stack(struct wb_host *host, size_t bytes)
{
    (void)host;
    return board_stack(bytes);
}

// Until the start it is the first core's: what is written there is given to its own then.
void *wb_host_private(struct wb_host *host, uint32_t core, size_t bytes)
{
    (void)host;
    (void)core;
    return board_take_private(bytes);
}

// What is nearer to a core than the memory of all is its own.
bool wb_host_lock_memory(struct wb_host *host, void *at, size_t bytes, char *why, size_t why_bytes)
{
    (void)host;
    (void)at;
    (void)bytes;
    snprintf(why, why_bytes,
             "this board has no internal memory that all cores see: leave `memory` out");
    return false;
}

// ---- Code that is linked in ---------------------------------------------------------------------

void *wb_host_module(struct wb_host *host, const char *path, char *error, size_t error_bytes)
{
    (void)path;
    (void)error;
    (void)error_bytes;
    return host;
}

// The application's, if it has them; its policy is named by its tables (docs/run-on-a-board.md).
__attribute__((weak)) enum wb_status wb_app_setup(struct wb_app *app);
__attribute__((weak)) enum wb_status wb_app_finish(struct wb_app *app);
extern const struct wb_policy *const wb_board_policy __attribute__((weak));

static bool is_policy(const char *symbol)
{
    static const char prefix[] = "wb_policy_";
    const size_t n = sizeof prefix - 1;

    return &wb_board_policy != NULL && wb_board_policy != NULL && strncmp(symbol, prefix, n) == 0 &&
           strcmp(symbol + n, wb_board_policy->name) == 0;
}

void *wb_host_symbol(struct wb_host *host, const char *name)
{
    (void)host;
    if (strcmp(name, "wb_app_setup") == 0)
        return (void *)wb_app_setup;
    if (strcmp(name, "wb_app_finish") == 0)
        return (void *)wb_app_finish;
    return is_policy(name) ? (void *)(uintptr_t)wb_board_policy : NULL;
}

enum wb_status wb_host_program(struct wb_host *host, const char *path)
{
    (void)host;
    (void)path;
    return wb_board_has_program() ? WB_OK : WB_ERR_INVAL;
}

enum wb_status wb_host_recreates(struct wb_host *host, struct wb_task *task, const char *entry,
                                 char *why, size_t why_bytes)
{
    (void)host;
    return wb_board_recreates(task, entry, why, why_bytes);
}

// ---- Starting -----------------------------------------------------------------------------------

static void run_kernel(uint32_t core)
{
    wb_board_run(the_system->cores[core]);
}

static void run_first_kernel(void)
{
    run_kernel(0);
}

static uint32_t state_of(const struct wb_host *host, uint32_t core)
{
    return wb_word_load(&host->system->cores[core]->state, WB_SEQ_CST);
}

static bool all_stopped(const struct wb_host *host)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++)
        if (state_of(host, i) != WB_CORE_STOPPED && state_of(host, i) != WB_CORE_DEAD)
            return false;
    return true;
}

// Called also while the launcher formats an answer, which takes a slow core long.
static void note_end(void)
{
    if (the_host.end_ns == 0 && all_stopped(&the_host))
        the_host.end_ns = board_now_ns();
}

static bool all_wait(uint32_t cores, uint32_t *bad)
{
    for (uint32_t i = 1; i < cores; i++)
        if (!board_waits(i)) {
            *bad = i;
            return false;
        }
    return true;
}

const char *wb_host_start_error(const struct wb_host *host)
{
    (void)host;
    return "it has not booted: the board must start all cores of the plan";
}

// Of every replicated task, however many there are.
static void give_private_memory(const struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        const uint32_t core = wb_word_load(&task->memory_core, WB_RELAXED);
        if (task->mode != WB_REPLICATE)
            continue;
        board_give_private(core, task->stack, task->stack_bytes);
        board_give_private(core, task->heap.base, (size_t)(task->heap.end - task->heap.base));
    }
}

enum wb_status wb_host_start(struct wb_host *host, uint32_t *bad_core)
{
    struct wb_system *system = host->system;

    *bad_core = WB_CORE_NONE;
    if (!all_wait(system->n_cores, bad_core))
        return WB_ERR_INVAL;
    give_private_memory(system);
    if (!wb_system_reserve(system))
        return WB_ERR_NOMEM;
    const enum wb_status status = wb_system_start(system, board_now_ns());
    if (status != WB_OK)
        return status;
    the_system = system;
    board_start_others(system->n_cores, run_kernel);
    board_reset_first();
    supervisor_begin(run_first_kernel, note_end);
    host->started = true;
    return WB_OK;
}

// ---- Supervising --------------------------------------------------------------------------------

void wb_host_kill_core(struct wb_host *host, uint32_t core, const char *by)
{
    if (host->killed[core] != NULL || !host->started)
        return;
    if (core != 0) {
        board_kill(core);
    } else {
        supervisor_kill_kernel();
        wb_board_killed();
    }
    host->killed[core] = by;
}

enum wb_status wb_host_restart(struct wb_host *host, uint32_t core, const char **why)
{
    (void)host;
    (void)core;
    *why = "a board starts with all of its cores";
    return WB_ERR_UNABLE;
}

void wb_host_kill(struct wb_host *host)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++)
        wb_host_kill_core(host, i, "");
    host->over = true;
}

void wb_host_watch(struct wb_host *host, uint32_t limit_ms)
{
    host->watchdog_ns = (uint64_t)limit_ms * 1000000;
    // Divided here, once: dividing 64 bits takes a small core a thousand cycles.
    host->least_polls = (uint32_t)(host->watchdog_ns / (2 * board_timeslice_ns()));
}

// A core is dead that has taken no interrupt of its timer for so long. An emulator may keep a core
// from running for a while: so the launcher must have looked often in that time, too.
static bool is_stopped(struct wb_host *host, uint32_t core, uint64_t now_ns)
{
    struct heartbeat *heartbeat = &host->heartbeats[core];
    const uint32_t now = board_heartbeat(core);

    if (now != heartbeat->last || heartbeat->last_ns == 0)
        *heartbeat = (struct heartbeat){ .last = now, .last_ns = now_ns };
    heartbeat->polls++;
    return heartbeat->polls > host->least_polls && now_ns - heartbeat->last_ns > host->watchdog_ns;
}

static void look_for_deaths(struct wb_host *host, uint64_t now_ns)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++)
        if (host->killed[i] == NULL && state_of(host, i) != WB_CORE_STOPPED &&
            is_stopped(host, i, now_ns))
            wb_host_kill_core(host, i, watchdog);
}

static bool take_over(struct wb_host *host, struct wb_host_event *event)
{
    for (uint32_t i = 0; i < host->system->n_cores; i++) {
        if (host->killed[i] == NULL || host->told[i])
            continue;
        host->told[i] = true;
        *event = death_report_before(host->system, i, board_now_ns());
        event->by = host->killed[i];
        death_report_take_over(host->system, event);
        return true;
    }
    return false;
}

static bool look_for_fault(struct wb_host *host, struct wb_host_event *event)
{
    if (host->fault_reported || wb_word_load(&host->system->fault.complete, WB_SEQ_CST) == 0)
        return false;
    wb_host_kill(host);
    host->fault_reported = true;
    event->kind = WB_HOST_FAULT;
    return true;
}

static bool look_for_end(struct wb_host *host, struct wb_host_event *event)
{
    note_end();
    if (host->end_reported || !(host->over || host->end_ns != 0))
        return false;
    host->end_reported = true;
    supervisor_kill_kernel();  // it has nothing to do any more
    *event = (struct wb_host_event){ .kind = WB_HOST_ENDED, .detected_ns = host->end_ns };
    return true;
}

static struct wb_host_event look_at_cores(struct wb_host *host)
{
    struct wb_host_event event = { .kind = WB_HOST_NOTHING };

    wb_system_sweep(host->system, board_now_ns());
    if (look_for_fault(host, &event))
        return event;
    if (!host->over)
        look_for_deaths(host, board_now_ns());
    if (!host->over && take_over(host, &event))
        return event;
    // Whoever should have told the others may have been killed. The first core's kernel ends now.
    if (wb_word_load(&host->system->live, WB_SEQ_CST) == 0) {
        for (uint32_t i = 0; i < host->system->n_cores; i++)
            board_ring(i);
        supervisor_yield();
    }
    (void)look_for_end(host, &event);
    return event;
}

struct wb_host_event wb_host_wait(struct wb_host *host, int timeout_ms)
{
    const uint64_t until_ns = board_now_ns() + (uint64_t)timeout_ms * 1000000;

    for (;;) {
        const struct wb_host_event event = look_at_cores(host);
        if (event.kind != WB_HOST_NOTHING || board_now_ns() >= until_ns)
            return event;
        supervisor_yield();
    }
}

static void stop_kernels(struct wb_host *host)
{
    wb_host_kill(host);
    // One that the watchdog has found takes no interrupt: it may never come.
    for (uint32_t i = 1; i < host->system->n_cores; i++)
        if (strcmp(host->killed[i], watchdog) != 0)
            (void)board_waits(i);
    host->started = false;
}

void wb_host_close(struct wb_host *host)
{
    if (host->started)
        stop_kernels(host);
    // Also of a system that never started.
    if (host->system != NULL)
        board_memory_used(host->system->arena);
}

// ---- What is told -------------------------------------------------------------------------------

int wb_host_fd(const struct wb_host *host)
{
    (void)host;
    return -1;
}

pid_t wb_host_pid(const struct wb_host *host, uint32_t core)
{
    (void)host;
    (void)core;
    return 0;
}

bool wb_host_waits_for_ever(struct wb_task *task)
{
    return wb_board_waits_for_ever(task);
}

const char *wb_host_clock(const struct wb_host *host)
{
    (void)host;
    return "counter";
}

int32_t wb_host_temperature_mc(uint32_t core)
{
    (void)core;
    return WB_NO_TEMPERATURE;
}

struct wb_residence wb_host_residence(const struct wb_core *core, uint32_t point, uint64_t now_ns)
{
    return wb_core_residence(core, point, now_ns);
}

uint64_t wb_host_core_energy(const struct wb_core *core, uint64_t now_ns)
{
    return wb_core_energy(core, now_ns);
}

const char *wb_host_energy(uint64_t *uj)
{
    *uj = 0;
    return "";
}

uint32_t wb_host_frames(const struct wb_host *host, const struct wb_fault *fault,
                        struct wb_host_frame *frames)
{
    (void)host;
    (void)fault;
    (void)frames;
    return 0;
}

uint32_t wb_host_stalled_ms(const struct wb_task *task)
{
    (void)task;
    return 0;
}
