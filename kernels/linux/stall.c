// SPDX-License-Identifier: Apache-2.0
// Tasks that keep their core to themselves, as the launcher sees them: one that reaches no
// checkpoint, and one that waits in a system call, where Linux lets no other task of its core run.
//
// A checkpoint without a request leaves no trace. So the launcher asks: it raises need_resched, as
// an alarm does, and a task that has reached its checkpoint since has cleared it.

#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "hosted.h"
#include "supervise.h"

enum { LOOK_NS = 100000000, STALL_NS = 2000000000, STALL_CPU_MS = 1000, ASLEEP_LOOKS = 5 };

enum { TOLD_COMPUTES = 1, TOLD_BLOCKS = 2 };

struct process_look {
    char state;       // as of /proc/PID/stat
    uint64_t cpu_ms;  // that it has had
};

struct core_look {
    const struct wb_task *task;  // that runs; NULL: none
    uint64_t switches;
    uint64_t since_ns, since_cpu_ms;  // when it was asked first, and has not answered since
    bool asked;
    struct process_look process;
};

struct task_look {
    uint32_t asleep;  // looks at which it ran and slept, less those at which it did not sleep
    uint32_t told;
    long call;  // where it slept
};

static struct {
    struct core_look cores[WB_CORES_MAX];
    struct task_look *tasks;
    uint64_t next_ns;
} s;

// ---- Processes ----------------------------------------------------------------------------------

static bool read_of(pid_t pid, const char *name, char *text, size_t bytes)
{
    char path[48];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t n = fread(text, 1, bytes - 1, file);
    fclose(file);
    text[n] = '\0';
    return n != 0;
}

static struct process_look look_at_process(pid_t pid)
{
    struct process_look look = { .state = '?' };
    unsigned long user, system;
    char text[512];

    // Its name may have blanks and parentheses.
    const char *rest = read_of(pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    if (rest != NULL && sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                               &look.state, &user, &system) == 3)
        look.cpu_ms = (user + system) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK);
    return look;
}

static long call_of(pid_t pid)
{
    char text[128];

    return read_of(pid, "syscall", text, sizeof text) && text[0] >= '0' && text[0] <= '9'
               ? strtol(text, NULL, 10)
               : -1;
}

static const char *name_of(long call)
{
    static const struct {
        long call;
        const char *name;
    } names[] = {
        { SYS_clock_nanosleep, "clock_nanosleep" },
        { SYS_nanosleep, "nanosleep" },
        { SYS_read, "read" },
        { SYS_readv, "readv" },
        { SYS_pread64, "pread" },
        { SYS_write, "write" },
        { SYS_writev, "writev" },
        { SYS_pwrite64, "pwrite" },
        { SYS_fsync, "fsync" },
        { SYS_fdatasync, "fdatasync" },
        { SYS_openat, "open" },
        { SYS_flock, "flock" },
        { SYS_fcntl, "fcntl" },
        { SYS_ioctl, "ioctl" },
        { SYS_futex, "futex" },
        { SYS_ppoll, "ppoll" },
        { SYS_pselect6, "pselect" },
        { SYS_epoll_pwait, "epoll_pwait" },
        { SYS_recvfrom, "recv" },
        { SYS_recvmsg, "recvmsg" },
        { SYS_sendto, "send" },
        { SYS_sendmsg, "sendmsg" },
        { SYS_accept, "accept" },
        { SYS_accept4, "accept4" },
        { SYS_connect, "connect" },
        { SYS_wait4, "waitpid" },
        { SYS_waitid, "waitid" },
        { SYS_rt_sigtimedwait, "sigtimedwait" },
        { SYS_rt_sigsuspend, "sigsuspend" },
#ifdef SYS_poll  // older calls, which newer processors do without
        { SYS_poll, "poll" },
        { SYS_select, "select" },
        { SYS_epoll_wait, "epoll_wait" },
        { SYS_pause, "pause" },
        { SYS_open, "open" },
#endif
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].call == call)
            return names[i].name;
    return "a system call";
}

// ---- Looking ------------------------------------------------------------------------------------

// The process that computes for a task: of one that is recreated, its own.
static pid_t process_of(const struct wb_host *host, uint32_t core, const struct wb_task *task)
{
    const struct hosted *h = hosted_of(task, core);

    return h != NULL && hosted_pid(h) != 0 ? hosted_pid(h) : host->kernels[core].pid;
}

static bool runs_still(const struct wb_core *core, const struct core_look *look)
{
    const uint32_t owner_state = wb_word_load(&look->task->owner_state, WB_ACQUIRE);

    return wb_task_state_of(owner_state) == WB_TASK_RUNNING &&
           wb_owner_of(owner_state) == core->index &&
           wb_word_load(&linux_core((struct wb_core *)(uintptr_t)core)->sleeping, WB_RELAXED) ==
               0 &&
           wb_counter_get(&core->stats.switches) == look->switches;
}

static void note_sleep(struct task_look *task, bool sleeps, pid_t pid)
{
    if (!sleeps) {
        task->asleep -= task->asleep != 0;
        return;
    }
    task->asleep++;
    task->call = call_of(pid);
}

static void look_at_core(struct wb_host *host, struct wb_core *core, const struct wb_task *task,
                         uint64_t now_ns)
{
    struct core_look *look = &s.cores[core->index];
    const uint64_t switches = wb_counter_get(&core->stats.switches);
    const bool is_other = task != look->task || switches != look->switches;

    look->task = task;
    look->switches = switches;
    if (task == NULL)
        return;
    const pid_t pid = process_of(host, core->index, task);
    look->process = look_at_process(pid);
    if (!runs_still(core, look)) {
        look->task = NULL;
        return;
    }
    note_sleep(&s.tasks[task->id], look->process.state == 'S' || look->process.state == 'D', pid);
    // What is stopped, by Ctrl-Z or by a debugger, stalls nothing.
    if (is_other || !look->asked || look->process.state == 'T' || look->process.state == 't' ||
        wb_word_load(&core->inbox.summary, WB_RELAXED) == 0) {
        look->since_ns = now_ns;
        look->since_cpu_ms = look->process.cpu_ms;
        look->asked = true;
        wb_word_or(&core->inbox.summary, 1, WB_RELAXED);
    }
}

// Long enough without a checkpoint. One whose processor others have does not count as computing.
static bool is_stalled(const struct core_look *look, uint64_t now_ns)
{
    if (look->task == NULL || now_ns - look->since_ns < STALL_NS)
        return false;
    return s.tasks[look->task->id].asleep >= ASLEEP_LOOKS ||
           look->process.cpu_ms - look->since_cpu_ms >= STALL_CPU_MS;
}

static void tell(stall_teller *teller, void *to, const struct core_look *look, uint32_t core,
                 uint64_t now_ns, bool at_end)
{
    const struct task_look *task = &s.tasks[look->task->id];
    const struct wb_stall stall = {
        .task = look->task,
        .core = core,
        .call = task->asleep >= ASLEEP_LOOKS ? name_of(task->call) : "",
        .for_ms = (now_ns - look->since_ns) / 1000000,
        .at_end = at_end,
    };

    teller(to, &stall);
}

static void tell_once(stall_teller *teller, void *to, uint32_t core, uint64_t now_ns)
{
    const struct core_look *look = &s.cores[core];

    if (look->task == NULL)
        return;
    struct task_look *task = &s.tasks[look->task->id];
    const bool blocks = task->asleep >= ASLEEP_LOOKS;
    const uint32_t what = blocks ? TOLD_BLOCKS : TOLD_COMPUTES;
    if ((task->told & what) != 0 || (!blocks && !is_stalled(look, now_ns)))
        return;
    task->told |= what;
    tell(teller, to, look, core, now_ns, false);
}

void stalls_look(struct wb_host *host, stall_teller *teller, void *to)
{
    const struct wb_task *running[WB_CORES_MAX] = { NULL };
    struct wb_system *system = host->system;
    const uint64_t now_ns = clock_now_ns();

    if (now_ns < s.next_ns)
        return;
    s.next_ns = now_ns + LOOK_NS;
    if (s.tasks == NULL)
        s.tasks = calloc(system->n_tasks, sizeof *s.tasks);
    for (uint32_t i = 0; s.tasks != NULL && i < system->n_tasks; i++) {
        const uint32_t owner_state = wb_word_load(&system->tasks[i].owner_state, WB_ACQUIRE);
        if (wb_task_state_of(owner_state) == WB_TASK_RUNNING)
            running[wb_owner_of(owner_state)] = &system->tasks[i];
    }
    for (uint32_t i = 0; s.tasks != NULL && i < system->n_cores; i++) {
        if (system->cores[i]->program != 0 || host->kernels[i].pid == 0)
            continue;
        look_at_core(host, system->cores[i], running[i], now_ns);
        tell_once(teller, to, i, now_ns);
    }
}

void stalls_tell_at_end(const struct wb_host *host, stall_teller *teller, void *to)
{
    const uint64_t now_ns = clock_now_ns();

    for (uint32_t i = 0; s.tasks != NULL && i < host->system->n_cores; i++)
        if (is_stalled(&s.cores[i], now_ns))
            tell(teller, to, &s.cores[i], i, now_ns, true);
}

uint32_t wb_host_stalled_ms(const struct wb_task *task)
{
    const uint64_t now_ns = clock_now_ns();

    for (uint32_t i = 0; s.tasks != NULL && i < WB_CORES_MAX; i++)
        if (s.cores[i].task == task && is_stalled(&s.cores[i], now_ns))
            return (uint32_t)((now_ns - s.cores[i].since_ns) / 1000000);
    return 0;
}
