// SPDX-License-Identifier: Apache-2.0
// Islands are cores that have nothing in common with others: the command finds them (plan_core).
// What happens on one of them depends on no other, so processes that are forked in the midst of a
// run each go on with some.
//
// Globally visible memory is mapped shared, and each process writes there only what its own cores
// would have written: it is as one process would have left it. Events and the loop are each one's
// own. What the engine has of a core its process sends at the end.
//
// All have two things in common. `stopping` is set once all have come to that time. And the run
// ends with the last task of all: idle cores go on until then. See docs/decisions/0077.
#define _GNU_SOURCE
#include "islands.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "private.h"
#include "watch.h"

// How often a process listens, in events.
enum { EVENTS = 1 << 18 };

enum stage {
    RUNS,
    STOPS,   // waits until all come to the time at which sources end
    ENDS,    // its tasks are over, and it waits for those of others
    DONE,    // what its engine has follows
    FAILED,  // not as a run should: begin again in one process
};

struct report {
    enum stage stage;
    bool killed;  // by a command of the plan, or of the user
    bool record_failed;
    uint64_t now_ps;
    uint64_t events, steps;  // since it began
    size_t engine_bytes;
};

struct worker {
    pid_t pid;
    int fd;
    bool *owns;  // of each core
    struct report report;
};

static struct {
    uint32_t n;     // islands
    uint32_t *of;   // of each core, from 1; 0: none
    bool together;  // they stay in one process
    // Of the first process.
    struct worker *workers;
    struct pollfd *polled;  // one for each, and the command
    uint32_t n_workers;
    // Of each of the others.
    const bool *own;
    int fd;
    struct report begin;
    // Shared by all: what the user asks of all of them, as an enum command_verb.
    struct wb_word *asked;
} islands;

static bool read_all(int fd, void *to, size_t bytes)
{
    return recv(fd, to, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static bool write_all(int fd, const void *from, size_t bytes)
{
    const unsigned char *at = from;

    while (bytes != 0) {
        const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

void islands_begin(const struct helper *h, bool together)
{
    free(islands.of);
    islands.n = 0;
    // The state of a saved run is that of one process, and events are counted there.
    islands.together = together || h->plan.sim.restore != NULL || h->plan.sim.events != 0;
    for (uint32_t i = 0; i < h->plan.sim.n_commands; i++)
        islands.together |= h->plan.sim.commands[i].command.verb == COMMAND_SAVE;
    islands.of = calloc(h->plan.n_cores, sizeof *islands.of);
    for (uint32_t i = 0; islands.of != NULL && i < h->plan.n_cores; i++) {
        islands.of[i] = h->plan.cores[i].island;
        islands.n = islands.of[i] > islands.n ? islands.of[i] : islands.n;
    }
    sim.islands.on = islands.n > 1;
}

static uint32_t processors(void)
{
    const char *given = getenv("WHIMBREL_PROCESSORS");
    const long n = given != NULL ? strtol(given, NULL, 10) : 0;
    cpu_set_t mine;

    if (given != NULL)
        return n > 0 && n <= WB_CORES_MAX ? (uint32_t)n : 1;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? (uint32_t)CPU_COUNT(&mine) : 1;
}

// What comes at random comes to any core; what a task is in the midst of stays in this process.
bool islands_pay(void)
{
    return sim.islands.on && !islands.together && sim.holdups.random == 0 &&
           sim.pending == ENGINE_NOTHING && processors() > 1;
}

// ---- A process with some of them ----------------------------------------------------------------

static uint64_t tell(struct helper *h, enum stage stage)
{
    struct report report = islands.begin;
    uint64_t answer;

    report.stage = stage;
    report.killed = h->commands.killed;
    report.now_ps = sim.engine->now_ps;
    if (!write_all(islands.fd, &report, sizeof report) ||
        !read_all(islands.fd, &answer, sizeof answer))
        _exit(EXIT_FAILURE);
    return answer;
}

void islands_stop(struct helper *h)
{
    // Where the tasks are over all others have passed this time: they were waited for.
    if (sim.islands.apart && sim.islands.until_ps == 0)
        (void)tell(h, STOPS);
    wb_word_store(&sim.system->stopping, 1, WB_RELAXED);
    for (uint32_t i = 0; i < sim.system->n_tasks; i++) {
        struct wb_task *task = &sim.system->tasks[i];
        if (!sim.islands.apart || islands.own[wb_task_core(task)])
            wb_task_wake(task);
    }
}

static bool is_at_limit(const struct helper *h)
{
    const uint64_t until_ns = h->plan.sim.until_ns;

    return until_ns != 0 && sim_now_ns() - sim.system->start_ns >= until_ns;
}

// The user asks at no moment of virtual time: each process obeys at its own.
static void heed(struct helper *h)
{
    static bool has_stopped;
    const uint32_t asked = wb_word_load(islands.asked, WB_RELAXED);

    if (asked == COMMAND_KILL) {
        h->commands.killed = true;
    } else if (asked == COMMAND_STOP && !has_stopped) {
        has_stopped = true;
        islands_stop(h);
    }
}

// Until the tasks are over, or until the time that the last of all processes has come to.
static void run_on(struct helper *h)
{
    enum sim_end end;

    do {
        heed(h);
        if (h->commands.killed)
            return;
        sim.pause_at.event = sim.counted.events + EVENTS;
        sim.pause_at.pass = sim.counted.passes + EVENTS;
        end = sim_run();
        recorder_drain(&h->recorder);
        const bool goes_on = end == SIM_PAUSED && !is_at_limit(h) && !watch_expired();
        if (end != SIM_OVER && !h->commands.killed && !goes_on)
            (void)tell(h, FAILED);
    } while (end != SIM_OVER && !h->commands.killed);
}

static void send_engine(struct helper *h)
{
    struct report report = { .stage = DONE, .killed = h->commands.killed };

    report.engine_bytes = engine_save(sim.engine, NULL, 0);
    unsigned char *bytes = malloc(report.engine_bytes);
    if (bytes == NULL || engine_save(sim.engine, bytes, report.engine_bytes) != report.engine_bytes)
        _exit(EXIT_FAILURE);
    report.record_failed = fflush(NULL) != 0 || h->recorder.failed;
    report.events = sim.counted.events - islands.begin.events;
    report.steps = sim.counted.steps - islands.begin.steps;
    if (!write_all(islands.fd, &report, sizeof report) ||
        !write_all(islands.fd, bytes, report.engine_bytes))
        _exit(EXIT_FAILURE);
}

static _Noreturn void work(struct helper *h, const struct worker *worker, int fd, pid_t first)
{
    uint64_t begins;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(HELPER_SOCKET);
    close(fileno(h->teller.file));
    islands.own = h->recorder.cores = worker->owns;
    islands.fd = fd;
    islands.begin.events = sim.counted.events;
    islands.begin.steps = sim.counted.steps;
    if (getppid() != first || !sim_keep_cores(islands.own) || !read_all(fd, &begins, sizeof begins))
        _exit(EXIT_FAILURE);
    watch_open();
    watch_begin();
    run_on(h);
    sim.islands.until_ps = tell(h, ENDS);
    if (!h->commands.killed)
        run_on(h);
    if (sim.engine->now_ps < sim.islands.until_ps)
        sim.engine->now_ps = sim.islands.until_ps;
    sim_follow_time();
    send_engine(h);
    _exit(EXIT_SUCCESS);
}

// ---- The first process --------------------------------------------------------------------------

struct island {
    uint32_t number;
    uint64_t weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct island *one = a, *other = b;

    return (one->weight < other->weight) - (one->weight > other->weight);
}

// The busiest first, each to the process that has least: by what its cores did so far.
static void deal_out(struct island *all, uint64_t *loads, uint32_t *to)
{
    const uint32_t n_cores = sim.system->n_cores;

    for (uint32_t i = 0; i <= islands.n; i++)
        all[i].number = i;
    for (uint32_t i = 0; i < n_cores; i++)
        all[islands.of[i]].weight += 1 + wb_counter_get(&sim.system->cores[i]->stats.switches);
    qsort(all, islands.n + 1, sizeof *all, by_weight);
    for (uint32_t i = 0; i <= islands.n; i++) {
        uint32_t least = 0;
        for (uint32_t w = 1; w < islands.n_workers; w++)
            least = loads[w] < loads[least] ? w : least;
        to[all[i].number] = least;
        loads[least] += all[i].weight;
    }
    for (uint32_t i = 0; i < n_cores; i++)
        islands.workers[to[islands.of[i]]].owns[i] = true;
}

static bool share_out(void)
{
    struct island *all = calloc(islands.n + 1, sizeof *all);
    uint64_t *loads = calloc(islands.n_workers, sizeof *loads);
    uint32_t *to = calloc(islands.n + 1, sizeof *to);
    const bool has_memory = all != NULL && loads != NULL && to != NULL;

    if (has_memory)
        deal_out(all, loads, to);
    free(all);
    free(loads);
    free(to);
    return has_memory;
}

// Waits for its first word before it does anything.
static bool start(struct helper *h, struct worker *worker)
{
    const pid_t first = getpid();
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return false;
    worker->fd = fds[0];
    worker->pid = fork();
    if (worker->pid == 0)
        work(h, worker, fds[1], first);
    close(fds[1]);
    return worker->pid > 0;
}

static bool start_all(struct helper *h)
{
    const uint32_t most = processors();
    bool started = true;

    islands.n_workers = islands.n < most ? islands.n : most;
    islands.workers = calloc(islands.n_workers, sizeof *islands.workers);
    islands.asked = mmap(NULL, sizeof *islands.asked, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    islands.polled = calloc(islands.n_workers + 1, sizeof *islands.polled);
    if (islands.workers == NULL || islands.polled == NULL || islands.asked == MAP_FAILED)
        return false;
    for (uint32_t i = 0; i < islands.n_workers; i++) {
        islands.workers[i].fd = -1;
        islands.workers[i].owns = calloc(sim.system->n_cores, sizeof(bool));
        started &= islands.workers[i].owns != NULL;
    }
    started = started && share_out() && fflush(NULL) == 0;
    for (uint32_t i = 0; started && i < islands.n_workers; i++)
        started = start(h, &islands.workers[i]);
    return started;
}

static void end_all(void)
{
    for (uint32_t i = 0; islands.workers != NULL && i < islands.n_workers; i++) {
        struct worker *worker = &islands.workers[i];
        if (worker->pid > 0 && kill(worker->pid, SIGKILL) == 0)
            waitpid(worker->pid, NULL, 0);
        if (worker->fd >= 0)
            close(worker->fd);
        free(worker->owns);
    }
    free(islands.workers);
    free(islands.polled);
    if (islands.asked != NULL && islands.asked != MAP_FAILED)
        munmap(islands.asked, sizeof *islands.asked);
    islands.workers = NULL;
    islands.asked = NULL;
}

static void obey(struct helper *h, const struct command *command)
{
    if (command->verb == COMMAND_STOP || command->verb == COMMAND_KILL)
        wb_word_store(islands.asked, command->verb, WB_RELAXED);
    else if (command->verb == COMMAND_STATUS)
        commands_obey(&h->commands, command);
    else
        commands_refuse(&h->commands, command,
                        "its islands run in several processes: start it with "
                        "WHIMBREL_PROCESSORS=1");
}

static void listen_to_user(struct helper *h)
{
    helper_take_commands(h);
    if (h->lines.closed)
        wb_word_store(islands.asked, COMMAND_KILL, WB_RELAXED);
}

static void answer(enum stage stage, uint64_t text)
{
    for (uint32_t i = 0; i < islands.n_workers; i++) {
        struct worker *worker = &islands.workers[i];
        if (worker->report.stage != stage)
            continue;
        worker->report.stage = RUNS;
        (void)write_all(worker->fd, &text, sizeof text);
    }
}

// All have come to where none goes on alone.
static void go_on(void)
{
    uint64_t last_ps = 0;
    bool stops = false;

    for (uint32_t i = 0; i < islands.n_workers; i++) {
        const struct report *report = &islands.workers[i].report;
        if (report->stage == RUNS || report->stage == DONE)
            return;
        stops |= report->stage == STOPS;
        last_ps = report->now_ps > last_ps ? report->now_ps : last_ps;
    }
    answer(stops ? STOPS : ENDS, last_ps);
}

static bool take_engine(struct helper *h, struct worker *worker)
{
    const struct report *report = &worker->report;
    unsigned char *bytes = malloc(report->engine_bytes);
    const bool taken = bytes != NULL && read_all(worker->fd, bytes, report->engine_bytes) &&
                       engine_adopt(sim.engine, bytes, report->engine_bytes, worker->owns);

    free(bytes);
    sim_follow_time();
    sim.counted.events += report->events;
    sim.counted.steps += report->steps;
    h->commands.killed |= report->killed;
    h->recorder.failed |= report->record_failed;
    return taken;
}

// False: it has gone without a word.
static bool take_report(struct helper *h, struct worker *worker)
{
    return read_all(worker->fd, &worker->report, sizeof worker->report) &&
           (worker->report.stage != DONE || take_engine(h, worker));
}

static enum islands_end report_gone(struct helper *h, struct worker *worker)
{
    int status = 0;
    char text[120];

    waitpid(worker->pid, &status, 0);
    worker->pid = 0;
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "a process that simulates islands was killed by signal %d",
                 WTERMSIG(status));
    else
        snprintf(text, sizeof text, "a process that simulates islands has ended");
    helper_report_error(h, "island", "", text);
    h->over = true;
    return ISLANDS_OVER;
}

static enum islands_end attend(struct helper *h)
{
    const uint32_t n = islands.n_workers;
    struct pollfd *fds = islands.polled;
    uint32_t done = 0;

    for (uint32_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){ .fd = islands.workers[i].fd, .events = POLLIN };
    while (done < n) {
        fds[n] = (struct pollfd){ .fd = h->lines.closed ? -1 : HELPER_SOCKET, .events = POLLIN };
        if (poll(fds, n + 1, -1) < 0)
            continue;
        if (fds[n].revents != 0)
            listen_to_user(h);
        for (uint32_t i = 0; i < n; i++) {
            struct worker *worker = &islands.workers[i];
            if (fds[i].revents == 0)
                continue;
            if (!take_report(h, worker))
                return report_gone(h, worker);
            if (worker->report.stage == FAILED)
                return ISLANDS_AGAIN;
            if (worker->report.stage == DONE) {
                fds[i].fd = -1;
                done++;
            }
        }
        go_on();
    }
    // The last thing in a run is the end of a task, which is no step; this process was in one.
    sim.stepping = false;
    return ISLANDS_OVER;
}

enum islands_end islands_run(struct helper *h)
{
    enum islands_end end = ISLANDS_UNABLE;

    if (start_all(h)) {
        answer(RUNS, 0);
        h->obey = obey;
        end = attend(h);
        h->obey = NULL;
    }
    end_all();
    islands.together |= end == ISLANDS_UNABLE;
    return end;
}
