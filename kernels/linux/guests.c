// SPDX-License-Identifier: Apache-2.0
// Starts guests in emulators, and comes to terms with them (launcher/api/guest.h).
//
// An emulator gets its memory and its doorbells as a client of an ivshmem server does (QEMU,
// docs/specs/ivshmem-spec.rst). All that the server says is known before, so it is written to a
// socket that the emulator inherits, and nobody has to serve.

#define _GNU_SOURCE
#include "guests.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define BOOT_NS 20000000000ull
#define ANSWER_NS 2000000000ull
#define MEASURED_NS 5000000000ull
#define MEASURED_AGAIN_NS 200000000ull  // while others wait for it

static bool fail(struct guest *guest, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail(struct guest *guest, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    vsnprintf(guest->error, sizeof guest->error, format, words);
    va_end(words);
    return false;
}

// ---- Memory and doorbells -----------------------------------------------------------------------

size_t guests_memory(const struct wb_host_config *config, size_t bytes)
{
    size_t all = (size_t)1 << 20;

    if (config->n_guests > WB_GUEST_CORES || config->system.cores > WB_GUEST_CORES)
        return 0;
    bytes = whole_pages(bytes) + config->n_guests * (size_t)WB_GUEST_PAGE_BYTES;
    while (all < bytes)
        all *= 2;
    return all;
}

// The launcher is peer 0 of all guests. Its vector 0 is nobody's, so no doorbell is 0.
static uint32_t doorbell_for(const struct wb_host_config *config, uint32_t core, uint32_t guest)
{
    const uint32_t whose = config->guest[core];
    uint32_t vector = 0;

    if (whose == guest)
        return 0;
    if (whose != 0)
        return whose << 16 | config->cpus[core];
    for (uint32_t i = 0; i <= core; i++)
        vector += config->guest[i] == 0;
    return vector;
}

static void clear_page(const struct guests *guests, uint32_t guest, uint64_t bytes)
{
    const struct wb_host_config *config = guests->config;
    struct wb_guest *page = guests->all[guest].page;

    *page = (struct wb_guest){ .magic = WB_GUEST_MAGIC, .bytes = bytes };
    for (uint32_t core = 0; core < WB_GUEST_CORES; core++)
        page->core[core] = WB_CORE_NONE;
    for (uint32_t core = 0; core < config->system.cores; core++) {
        page->doorbell[core] = doorbell_for(config, core, guest + 1);
        if (config->guest[core] == guest + 1)
            page->core[config->cpus[core]] = core;
    }
}

enum wb_status guests_open(struct guests *guests, const struct gvm *gvm,
                           const struct wb_host_config *config, struct wb_system *system)
{
    *guests = (struct guests){ .config = config, .n = config->n_guests, .nobody = -1 };
    for (uint32_t i = 0; i < WB_GUEST_CORES; i++)
        guests->doorbells[i] = -1;
    guests->all = calloc(guests->n, sizeof *guests->all);
    if (guests->all == NULL)
        return WB_ERR_NOMEM;
    for (uint32_t g = 0; g < guests->n; g++) {
        guests->all[g] = (struct guest){ .plan = &config->guests[g],
                                         .page = wb_guest_page(gvm->bytes, g),
                                         .pidfd = -1,
                                         .line = -1 };
        clear_page(guests, g, gvm->bytes);
    }
    guests->nobody = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (uint32_t core = 0; core < system->n_cores; core++) {
        guests->doorbells[core] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (guests->doorbells[core] < 0 || guests->nobody < 0)
            return WB_ERR_NOMEM;
        doorbell_use(core, guests->doorbells[core], config->guest[core] != 0);
        if (wb_core_set_program(system->cores[core], config->guest[core]) != WB_OK)
            return WB_ERR_INVAL;
    }
    return WB_OK;
}

// ---- What a server of ivshmem says --------------------------------------------------------------

static bool say(int line, int64_t number, int fd)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof fd)];
    } control = { 0 };
    struct iovec part = { .iov_base = &number, .iov_len = sizeof number };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

    if (fd >= 0) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    }
    return sendmsg(line, &message, MSG_NOSIGNAL) == (ssize_t)sizeof number;
}

// The doorbells of the launcher's own cores, or of the cores of a guest's board: one a vector.
static bool say_peer(const struct guests *guests, int line, uint32_t peer)
{
    const struct wb_host_config *config = guests->config;
    const uint32_t n = peer == 0 ? 0 : config->guests[peer - 1].cores;
    bool said = peer != 0 || say(line, 0, guests->nobody);

    for (uint32_t core = 0; peer == 0 && core < config->system.cores; core++)
        if (config->guest[core] == 0)
            said &= say(line, 0, guests->doorbells[core]);
    for (uint32_t vector = 0; vector < n; vector++) {
        int doorbell = guests->nobody;
        for (uint32_t core = 0; core < config->system.cores; core++)
            if (config->guest[core] == peer && config->cpus[core] == vector)
                doorbell = guests->doorbells[core];
        said &= say(line, peer, doorbell);
    }
    return said;
}

static bool say_all(const struct guests *guests, uint32_t guest, int line, const struct gvm *gvm)
{
    enum { VERSION = 0 };
    bool said = say(line, VERSION, -1) && say(line, guest + 1, -1) && say(line, -1, gvm->fd);

    for (uint32_t peer = 0; peer <= guests->n; peer++)
        said = said && say_peer(guests, line, peer);
    return said;
}

// As many as any peer has.
static uint32_t vectors(const struct wb_host_config *config)
{
    uint32_t most = 1;

    for (uint32_t core = 0; core < config->system.cores; core++)
        most += config->guest[core] == 0;
    for (uint32_t g = 0; g < config->n_guests; g++)
        most = config->guests[g].cores > most ? config->guests[g].cores : most;
    return most;
}

// ---- Starting -----------------------------------------------------------------------------------

// The plan's words, and the devices that are the launcher's to add.
static void execute(const struct guests *guests, const struct plan_guest *plan, int line)
{
    enum { MORE = 5 };
    char **words = calloc(plan->n_command + MORE, sizeof *words), **last;
    char memory[64], device[64];

    if (words == NULL)
        return;
    for (uint32_t i = 0; i < plan->n_command; i++)
        words[i] = (char *)plan->command[i];
    last = words + plan->n_command;
    snprintf(memory, sizeof memory, "socket,id=gvm,fd=%d", line);
    snprintf(device, sizeof device, "ivshmem-doorbell,vectors=%u,chardev=gvm",
             vectors(guests->config));
    last[0] = (char *)"-chardev", last[1] = memory;
    last[2] = (char *)"-device", last[3] = device;
    execvp(words[0], words);
}

// It ends with its launcher, hears no SIGINT of the terminal, and has the one descriptor.
static _Noreturn void be_emulator(const struct guests *guests, const struct plan_guest *plan,
                                  int line, int failed, pid_t launcher)
{
    const int null = open("/dev/null", O_RDONLY);
    int error_number;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(1);
    for (uint32_t i = 0; i < guests->config->n_launcher_fds; i++)
        close(guests->config->launcher_fds[i]);
    if (setpgid(0, 0) == 0 && dup2(null, 0) == 0 && fcntl(line, F_SETFD, 0) == 0)
        execute(guests, plan, line);
    error_number = errno;
    (void)!write(failed, &error_number, sizeof error_number);
    _exit(127);
}

static bool start(struct guests *guests, uint32_t g, const struct gvm *gvm)
{
    struct guest *guest = &guests->all[g];
    const pid_t launcher = getpid();
    int line[2] = { -1, -1 }, failed[2] = { -1, -1 }, error_number = 0;
    pid_t pid = -1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) == 0 &&
        pipe2(failed, O_CLOEXEC) == 0 && say_all(guests, g, line[0], gvm))
        pid = fork();
    if (pid == 0)
        be_emulator(guests, guest->plan, line[1], failed[1], launcher);
    if (pid < 0)
        error_number = errno;
    else
        guest->pid = pid;
    guest->line = line[0];
    close(line[1]);
    close(failed[1]);
    if (error_number == 0 && read(failed[0], &error_number, sizeof error_number) == 0)
        guest->pidfd = (int)syscall(SYS_pidfd_open, guest->pid, 0);
    close(failed[0]);
    if (error_number == 0)
        return true;
    return fail(guest, "%s cannot be started: %s", guest->plan->command[0], strerror(error_number));
}

// What has become of the boot of a guest that is started again.
enum { BOOTED, BOOTING, NOT_BOOTED };

// ---- Coming to terms ----------------------------------------------------------------------------

static void rest(void)
{
    const struct timespec while_it_boots = { .tv_nsec = 500000 };

    nanosleep(&while_it_boots, NULL);
}

// Its emulator has ended, before that: who started it reaps it.
static bool has_ended(struct guest *guest, const char *what)
{
    siginfo_t end = { 0 };

    if (waitid(P_PID, (id_t)guest->pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0)
        return !fail(guest, "its emulator ended before %s", what);
    if (end.si_pid != guest->pid)
        return false;
    return !(
        end.si_code == CLD_EXITED
            ? fail(guest, "its emulator ended with status %d before %s", end.si_status, what)
            : fail(guest, "its emulator was ended by signal %d before %s", end.si_status, what));
}

// It has come to a state. False: it has failed, ended, or does not come there in time.
static bool await(struct guest *guest, enum wb_guest_state wanted, const char *what)
{
    const uint64_t until_ns = clock_now_ns() + BOOT_NS;

    for (;;) {
        // Acquire: what the guest wrote before.
        const uint32_t state = wb_word_load(&guest->page->state, WB_ACQUIRE);
        if (state == WB_GUEST_FAILED)
            return fail(guest, "its program cannot take part: %.*s", WB_ERROR_BYTES,
                        guest->page->error);
        if (state >= wanted)
            return true;
        if (has_ended(guest, what))
            return false;
        if (clock_now_ns() > until_ns)
            return fail(guest,
                        "%llu s have passed before %s: start its emulator by hand to see why",
                        BOOT_NS / 1000000000, what);
        rest();
    }
}

static bool compare(const struct guests *guests, struct guest *guest)
{
    const struct wb_guest *page = guest->page;
    const char *hash = guests->config->plan_hash;

    if (page->layout != wb_layout())
        return fail(guest, "its image is of another build of Whimbrel: build it again");
    if (hash == NULL || strncmp(page->plan, hash, sizeof page->plan) != 0)
        return fail(guest, "its image is of another plan: build it again");
    for (uint32_t core = page->cores; core < WB_GUEST_CORES; core++)
        if (page->core[core] != WB_CORE_NONE)
            return fail(guest, "its machine has %u cores, and the plan has core %u: raise -smp",
                        page->cores, core);
    return true;
}

// To the n-th processor that this process may use, round about; nowhere if there are none.
static void go_to_another(const cpu_set_t *allowed, unsigned int n)
{
    const int count = CPU_COUNT(allowed);
    cpu_set_t one;

    CPU_ZERO(&one);
    for (unsigned int cpu = 0, seen = 0; count != 0 && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && seen++ == n % (unsigned int)count)
            CPU_SET(cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
}

// The processor time of its emulator so far.
static uint64_t ran_ns(const struct guest *guest)
{
    struct timespec ran = { 0 };
    clockid_t clock;

    if (clock_getcpuclockid(guest->pid, &clock) == 0)
        (void)clock_gettime(clock, &ran);
    return (uint64_t)ran.tv_sec * 1000000000 + (uint64_t)ran.tv_nsec;
}

// Its cores hang if they run and do not answer. Where they do not run the machine is busy, perhaps
// with this loop.
static bool await_answer(struct guest *guest, uint32_t round)
{
    enum { LONG_NS = 20000000 };
    const uint64_t asked_ns = clock_now_ns();
    uint64_t before_ns = 0;

    wb_word_store(&guest->page->ping, round, WB_SEQ_CST);
    while (wb_word_load(&guest->page->pong, WB_ACQUIRE) != round) {
        const uint64_t waited_ns = clock_now_ns() - asked_ns;
        if (waited_ns < LONG_NS)
            continue;
        if (has_ended(guest, "its clock answers"))
            return false;
        if (before_ns == 0)
            before_ns = ran_ns(guest);
        if (waited_ns > BOOT_NS || ran_ns(guest) - before_ns > ANSWER_NS)
            return fail(guest, "its clock does not answer within %llu s: its cores hang",
                        (waited_ns > BOOT_NS ? BOOT_NS : ANSWER_NS) / 1000000000);
        rest();
    }
    return true;
}

// Each answer was given between the question and its arrival, which bounds how far the clocks are
// apart. The bounds of many are closer than those of the quickest, also where both sides have to
// take turns on one processor.
static bool take_bounds(struct guest *guest, const cpu_set_t *allowed)
{
    const bool again = wb_word_load(&guest->booted, WB_RELAXED) == BOOTING;
    const uint64_t until_ns = clock_now_ns() + (again ? MEASURED_AGAIN_NS : MEASURED_NS);
    enum { ROUNDS_LEAST = 200, ROUNDS_MOST = 20000, CLOSE_NS = 2000, QUICK_NS = 50000 };
    struct wb_guest *page = guest->page;
    int64_t least_ns = INT64_MIN, most_ns = INT64_MAX;
    unsigned int cpu = 0;

    for (uint32_t round = 1; round <= ROUNDS_MOST; round++) {
        const uint64_t from_ns = clock_now_ns();
        if (!await_answer(guest, round))
            return false;
        const uint64_t to_ns = clock_now_ns();
        const int64_t low_ns = (int64_t)(from_ns - page->now_ns);
        const int64_t high_ns = (int64_t)(to_ns - page->now_ns);
        least_ns = low_ns > least_ns ? low_ns : least_ns;
        most_ns = high_ns < most_ns ? high_ns : most_ns;
        if (round >= ROUNDS_LEAST && (most_ns - least_ns < CLOSE_NS || to_ns > until_ns))
            break;
        // The guest did not run meanwhile: it may wait for this very processor.
        if (to_ns - from_ns > QUICK_NS)
            go_to_another(allowed, ++cpu);
    }
    page->offset_ns = least_ns + (most_ns - least_ns) / 2;
    return true;
}

static bool measure_clock(struct guest *guest)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
    const bool measured = take_bounds(guest, &allowed);
    (void)sched_setaffinity(0, sizeof allowed, &allowed);
    return measured;
}

static bool try_atomics(struct guest *guest)
{
    struct wb_guest *page = guest->page;
    const uint64_t until_ns = clock_now_ns() + BOOT_NS;

    wb_word_store(&page->count, 1, WB_SEQ_CST);
    // Once the guest does: what one has done before the other begins tells nothing.
    for (uint64_t look_ns = clock_now_ns() + ANSWER_NS;
         wb_word_load(&page->contended, WB_RELAXED) == 0 && clock_now_ns() < until_ns;)
        if (clock_now_ns() > look_ns && has_ended(guest, "it counts"))
            return false;
    for (uint32_t i = 0; i < WB_GUEST_CONTENDED; i++)
        (void)wb_word_add(&page->contended, 1, WB_RELAXED);
    while (wb_word_load(&page->count, WB_ACQUIRE) != 2) {
        if (has_ended(guest, "it has counted"))
            return false;
        if (clock_now_ns() > until_ns)
            return fail(guest, "it does not count within %llu s: its cores hang",
                        BOOT_NS / 1000000000);
        rest();
    }
    const uint32_t n = wb_word_load(&page->contended, WB_RELAXED);
    return n == 2 * WB_GUEST_CONTENDED ||
           fail(guest,
                "of %u atomic additions of both sides %u were lost: start it with -smp 2 or more "
                "and without -icount",
                2 * WB_GUEST_CONTENDED, 2 * WB_GUEST_CONTENDED - n);
}

static bool come_to_terms(const struct guests *guests, struct guest *guest)
{
    return await(guest, WB_GUEST_READY, "its program is ready") && compare(guests, guest) &&
           measure_clock(guest) && try_atomics(guest);
}

bool guests_boot(struct guests *guests, const struct gvm *gvm, uint32_t *bad)
{
    for (*bad = 0; *bad < guests->n; ++*bad)
        if (!start(guests, *bad, gvm))
            return false;
    for (*bad = 0; *bad < guests->n; ++*bad)
        if (!come_to_terms(guests, &guests->all[*bad]))
            return false;
    return true;
}

// A task that starts there, and that its image does not have.
static bool has_functions(struct guest *guest, uint32_t program, const struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        if (system->cores[wb_task_core(task)]->program == program &&
            system->programs[program].entries[i] == NULL)
            return fail(guest, "its image has no function of the task %s", task->name);
    }
    return true;
}

static void go(const struct guest *guest, uint32_t program, struct wb_system *system)
{
    guest->page->system = system;
    guest->page->program = program;
    guest->page->guard_bytes = GUARD_BYTES;
    // Release: the guest reads the system once it sees this.
    wb_word_store(&guest->page->state, WB_GUEST_GO, WB_RELEASE);
}

static bool is_up(struct guest *guest, uint32_t program, const struct wb_system *system)
{
    return await(guest, WB_GUEST_UP, "its kernels are up") && has_functions(guest, program, system);
}

bool guests_go(struct guests *guests, struct wb_system *system, uint32_t *bad)
{
    for (*bad = 0; *bad < guests->n; ++*bad)
        go(&guests->all[*bad], *bad + 1, system);
    for (*bad = 0; *bad < guests->n; ++*bad)
        if (!is_up(&guests->all[*bad], *bad + 1, system))
            return false;
    return true;
}

// ---- Starting again -----------------------------------------------------------------------------

static void *boot_again(void *arg)
{
    struct guest *guest = arg;
    const uint32_t program = (uint32_t)(guest - guest->guests->all) + 1;
    bool booted = come_to_terms(guest->guests, guest);

    if (booted) {
        go(guest, program, guest->system);
        booted = is_up(guest, program, guest->system);
    }
    // Release: what `error` says.
    wb_word_store(&guest->booted, booted ? BOOTED : NOT_BOOTED, WB_RELEASE);
    return NULL;
}

bool guests_start_again(struct guests *guests, struct guest *guest, const struct gvm *gvm,
                        struct wb_system *system)
{
    const uint32_t g = (uint32_t)(guest - guests->all);

    if (guest->line >= 0)
        close(guest->line);
    guest->line = -1;
    clear_page(guests, g, gvm->bytes);
    if (!start(guests, g, gvm)) {
        if (guest->pid > 0)
            waitpid(guest->pid, NULL, 0);
        guest->pid = 0;
        return false;
    }
    guest->guests = guests;
    guest->system = system;
    wb_word_store(&guest->booted, BOOTING, WB_RELAXED);
    guest->has_thread = pthread_create(&guest->thread, NULL, boot_again, guest) == 0;
    if (guest->has_thread)
        return true;
    kill(guest->pid, SIGKILL);
    waitpid(guest->pid, NULL, 0);
    guest->pid = 0;
    return fail(guest, "there is no thread to start it in");
}

static void join(struct guest *guest)
{
    if (guest->has_thread)
        pthread_join(guest->thread, NULL);
    guest->has_thread = false;
}

void guests_look(struct guest *guest)
{
    const uint32_t booted = wb_word_load(&guest->booted, WB_ACQUIRE);

    if (!guest->has_thread || booted == BOOTING)
        return;
    join(guest);
    if (booted == NOT_BOOTED)
        kill(guest->pid, SIGKILL);
}

bool guests_end(struct guest *guest)
{
    // The thread sees it as well.
    join(guest);
    guest->pid = 0;
    return wb_word_load(&guest->booted, WB_ACQUIRE) == BOOTED;
}

// ---- Closing ------------------------------------------------------------------------------------

void guests_close(struct guests *guests)
{
    for (uint32_t g = 0; guests->all != NULL && g < guests->n; g++) {
        struct guest *guest = &guests->all[g];
        if (guest->pid > 0)
            kill(guest->pid, SIGKILL);
        join(guest);
        if (guest->pid > 0)
            waitpid(guest->pid, NULL, 0);
        if (guest->pidfd >= 0)
            close(guest->pidfd);
        if (guest->line >= 0)
            close(guest->line);
    }
    for (uint32_t core = 0; guests->all != NULL && core < WB_GUEST_CORES; core++)
        if (guests->doorbells[core] >= 0)
            close(guests->doorbells[core]);
    if (guests->all != NULL && guests->nobody >= 0)
        close(guests->nobody);
    free(guests->all);
    *guests = (struct guests){ 0 };
    doorbell_use_none();
}
