// SPDX-License-Identifier: Apache-2.0
// The launcher's functions (host.h) for kernels in virtual time: all of them in this process.

#include "host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "death_report.h"
#include "heap_hooks.h"
#include "module.h"
#include "private.h"
#include "private_mapping.h"
#include "sim_host.h"
#include "wb/launcher.h"
#include "wb/system.h"

enum { MODULE_BYTES = 8 << 20, OFFER_NS = 50000000, HOOK_HEAP_BYTES = 256 << 10 };

// Where time starts: 0 stands for "never" in the records of migrations.
enum { START_NS = 1 };

struct wb_host {
    struct wb_host_config config;
    struct gvm gvm;
    void *module;  // tasks that are recreated begin at its functions
    bool started, end_reported, fault_reported, killed;
    struct wb_host_event death;
};

// ---- Laying out ---------------------------------------------------------------------------------

static bool open_memory(struct wb_host *host)
{
    const struct wb_host_config *config = &host->config;
    // Heaps begin with a page, and every firing writes there. What is read all the time lies at
    // another place in its page: sim.pipeline takes 3 % less in turns, as if loads waited for
    // stores whose addresses end alike.
    enum { OFF_PAGE = 41 * WB_LINE_BYTES };
    const struct wb_system_config *sc = &config->system;
    const size_t arena =
        OFF_PAGE + wb_system_bytes(sc) + config->memory_bytes + HOOK_HEAP_BYTES +
        sc->tasks * (sizeof(struct share) + sizeof(struct packed) + PACKED_BYTES) +
        sc->cores * sizeof(struct fair) + 4 * WB_LINE_BYTES +
        sim_group_bytes(sc->tasks, sc->cores) +
        sc->cores * (sizeof(struct sim_core) + 4 * sizeof *sim.now.cores + 2 * WB_LINE_BYTES);
    const size_t guards = (size_t)sc->tasks * (GUARD_BYTES + PAGE_BYTES);
    const size_t replicas =
        private_mapping_bytes(sc->cores, config->private_bytes, config->private_parts);

    if (!gvm_open(&host->gvm,
                  arena + guards + config->stacks_bytes + config->module_bytes + replicas, 0) ||
        !private_mapping_open(&host->gvm, sc->cores, config->private_bytes, config->private_parts))
        return false;
    unsigned char *memory = gvm_take(&host->gvm, arena);
    return wb_system_init(&sim.system, memory + OFF_PAGE, arena - OFF_PAGE, sc) == WB_OK;
}

static enum wb_status open_cores(void)
{
    struct wb_system *system = sim.system;

    if (!hooks_open(system, HOOK_HEAP_BYTES / 2))
        return WB_ERR_NOMEM;
    sim.cores = wb_system_alloc(system, system->n_cores * sizeof *sim.cores, WB_LINE_BYTES);
    const size_t tasks = system->config.tasks;
    sim.packed = wb_system_alloc(system, tasks * sizeof *sim.packed, WB_LINE_BYTES);
    sim.packed_stacks = wb_system_alloc(system, tasks * PACKED_BYTES, WB_LINE_BYTES);
    if (sim.cores == NULL || sim.packed == NULL || sim.packed_stacks == NULL)
        return WB_ERR_NOMEM;
    for (sim.now_mask = 1; sim.now_mask < system->n_cores; sim.now_mask *= 2) {}
    const size_t bytes = sim.now_mask * sizeof *sim.now.cores;
    sim.now.cores = wb_system_alloc(system, bytes, WB_LINE_BYTES);
    sim.choices.cores = wb_system_alloc(system, bytes, WB_LINE_BYTES);
    if (sim.now.cores == NULL || sim.choices.cores == NULL)
        return WB_ERR_NOMEM;
    sim.now_mask--;
    for (uint32_t i = 0; i < system->n_cores; i++)
        sim.cores[i].core = system->cores[i];
    return WB_OK;
}

// No clock, no system, no event.
static void forget_everything(void)
{
    sim = (struct sim){ .pending = ENGINE_NOTHING, .odd_clock = true };
    sim_execute_launcher();
}

enum wb_status wb_host_open(struct wb_host **out, const struct wb_host_config *config)
{
    struct wb_host *host = calloc(1, sizeof *host);

    if (host == NULL)
        return WB_ERR_NOMEM;
    host->config = *config;
    host->gvm.fd = -1;
    if (host->config.system.core_align == 0)
        host->config.system.core_align = WB_LINE_BYTES;
    if (host->config.system.offer_timeout_ns == 0)
        host->config.system.offer_timeout_ns = OFFER_NS;
    if (host->config.module_bytes == 0)
        host->config.module_bytes = MODULE_BYTES;
    forget_everything();
    const enum wb_status status = open_memory(host) ? open_cores() : WB_ERR_NOMEM;
    if (status != WB_OK) {
        wb_host_close(host);
        return status;
    }
    *out = host;
    return WB_OK;
}

bool sim_host_platform(struct wb_host *host, const char *json, char *error, size_t error_bytes)
{
    sim.engine = engine_new(json, error, error_bytes);
    sim.odd_clock = sim.engine == NULL;
    if (sim.engine != NULL && engine_cores(sim.engine) >= host->config.system.cores)
        return true;
    if (sim.engine != NULL)
        strncpy(error, "the platform has fewer cores than the plan", error_bytes - 1);
    return false;
}

const struct gvm *sim_host_memory(const struct wb_host *host)
{
    return &host->gvm;
}

struct wb_system *wb_host_system(struct wb_host *host)
{
    (void)host;
    return sim.system;
}

size_t wb_host_gvm_bytes(const struct wb_host *host)
{
    return host->gvm.bytes;
}

void *wb_host_stack(struct wb_host *host, size_t bytes)
{
    return gvm_stack(&host->gvm, bytes);
}

void *wb_host_private(struct wb_host *host, uint32_t core, size_t bytes)
{
    return core < host->config.system.cores ? private_mapping_take(core, bytes) : NULL;
}

// How large the platform's scratchpad is has been looked at by the command.
bool wb_host_lock_memory(struct wb_host *host, void *at, size_t bytes, char *why, size_t why_bytes)
{
    (void)host;
    (void)at;
    (void)bytes;
    (void)why;
    (void)why_bytes;
    return true;
}

void *wb_host_module(struct wb_host *host, const char *path, char *error, size_t error_bytes)
{
    host->module = module_load(&host->gvm, path, error, error_bytes);
    return host->module;
}

void *wb_host_symbol(struct wb_host *host, const char *name)
{
    void *symbol = module_symbol(host->module, name);

    // The simulator has a policy of its own (asked.c).
    if (symbol == NULL && strncmp(name, "wb_policy_", strlen("wb_policy_")) == 0)
        symbol = dlsym(RTLD_DEFAULT, name);
    return symbol;
}

bool wb_host_waits_for_ever(struct wb_task *task)
{
    return kernel_task(task)->timer == 0;
}

// Nothing has to be loaded: a task that is recreated starts anew in this process.
enum wb_status wb_host_program(struct wb_host *host, const char *path)
{
    (void)host;
    (void)path;
    return WB_OK;
}

size_t wb_host_recreated_bytes(uint32_t cores)
{
    (void)cores;
    return 0;
}

enum wb_status wb_host_recreates(struct wb_host *host, struct wb_task *task, const char *entry,
                                 char *why, size_t why_bytes)
{
    // Without a module the tasks are functions of the program itself, as in the conformance suite.
    void *symbol =
        host->module != NULL ? module_symbol(host->module, entry) : dlsym(RTLD_DEFAULT, entry);

    *(void **)&task->entry = symbol;
    if (task->entry != NULL)
        return WB_OK;
    snprintf(why, why_bytes, "the module has no function %s: define it without `static`", entry);
    return WB_ERR_INVAL;
}

// ---- Running ------------------------------------------------------------------------------------

// Every core begins with a turn, as if it had been rung.
enum wb_status wb_host_start(struct wb_host *host, uint32_t *bad_core)
{
    *bad_core = WB_CORE_NONE;
    host->started = true;
    sim.pause_at.event = sim.pause_at.pass = UINT64_MAX;
    engine_begin(sim.engine, (uint64_t)START_NS * PS_PER_NS);
    sim_follow_time();
    if (!wb_system_reserve(sim.system))
        return WB_ERR_NOMEM;
    const enum wb_status status = wb_system_start(sim.system, START_NS);
    if (status != WB_OK)
        return status;
    libc_state_init();
    fault_prepare();
    fault_catch();
    return sim_start() ? WB_OK : WB_ERR_NOMEM;
}

struct wb_host_event sim_host_event(struct wb_host *host, enum sim_end end)
{
    struct wb_host_event event = { .kind = WB_HOST_NOTHING };

    if (host->death.kind == WB_HOST_DIED) {
        event = host->death;
        host->death.kind = WB_HOST_NOTHING;
    } else if (end == SIM_FAULT && !host->fault_reported) {
        host->fault_reported = true;
        event.kind = WB_HOST_FAULT;
    } else if ((end == SIM_OVER || end == SIM_FAULT || host->killed) && !host->end_reported) {
        host->end_reported = true;
        event.kind = WB_HOST_ENDED;
    }
    return event;
}

struct wb_host_event wb_host_wait(struct wb_host *host, int timeout_ms)
{
    const uint64_t until_ps = sim.engine->now_ps + (uint64_t)timeout_ms * 1000000 * PS_PER_NS;
    enum sim_end end = sim.run.halted ? SIM_FAULT : SIM_PAUSED;

    if (host->death.kind != WB_HOST_DIED && !host->killed && !sim.run.halted) {
        const uint64_t stop = sim_push(until_ps, EVENT_STOP, 0);
        sim.run.patient = true;
        end = sim_run();
        sim_take_back(stop, EVENT_STOP);
    }
    return sim_host_event(host, end);
}

// A killed kernel is noticed at once: nobody else's time passes meanwhile.
void sim_host_kill(struct wb_host *host, uint32_t core)
{
    host->death = death_report_before(sim.system, core, sim_now_ns());
    host->death.by = "pidfd";
    sim_kill(&sim.cores[core]);
    death_report_take_over(sim.system, &host->death);
}

int wb_host_fd(const struct wb_host *host)
{
    (void)host;
    return -1;
}

pid_t wb_host_pid(const struct wb_host *host, uint32_t core)
{
    (void)core;
    return host->started ? getpid() : 0;
}

enum wb_status wb_host_restart(struct wb_host *host, uint32_t core, const char **why)
{
    (void)host;
    (void)core;
    *why = "a simulation has no kernel that could be killed";
    return WB_ERR_UNABLE;
}

void wb_host_kill(struct wb_host *host)
{
    host->killed = true;
    sim_pause();
}

void wb_host_close(struct wb_host *host)
{
    kernel_set_system(NULL);
    engine_free(sim.engine);
    gvm_close(&host->gvm);
    if (host->module != NULL)
        dlclose(host->module);
    forget_everything();
    free(host);
}

// ---- What is told -------------------------------------------------------------------------------

const char *wb_host_clock(const struct wb_host *host)
{
    (void)host;
    return "virtual";
}

int32_t wb_host_temperature_mc(uint32_t core)
{
    const int32_t mc = engine_temperature_mc(sim.engine, core);
    return mc == INT32_MIN ? WB_NO_TEMPERATURE : mc;
}

// The hardware's: it is also active in its kernel, and while it wakes up.
struct wb_residence wb_host_residence(const struct wb_core *core, uint32_t point, uint64_t now_ns)
{
    (void)now_ns;
    return (struct wb_residence){
        .active_ns = engine_active_ps(sim.engine, core->index, point) / PS_PER_NS,
        .idle_ns = engine_idle_ps(sim.engine, core->index, point) / PS_PER_NS,
    };
}

uint64_t wb_host_core_energy(const struct wb_core *core, uint64_t now_ns)
{
    (void)now_ns;
    return engine_energy_uj(sim.engine, core->index);
}

const char *wb_host_energy(uint64_t *uj)
{
    *uj = engine_total_uj(sim.engine);
    return "simulation";
}

// No core is refused.
const char *wb_host_start_error(const struct wb_host *host)
{
    (void)host;
    return "";
}

uint32_t wb_host_frames(const struct wb_host *host, const struct wb_fault *fault,
                        struct wb_host_frame *frames)
{
    const struct fault_trace *trace = fault_traced();
    uint32_t n = 0;

    (void)host;
    (void)fault;
    for (uint32_t i = 0; i < trace->n; i++)
        n += module_place(trace->pc[i], &frames[n]);
    return n;
}

uint32_t wb_host_stalled_ms(const struct wb_task *task)
{
    (void)task;
    return 0;
}
