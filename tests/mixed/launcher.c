// SPDX-License-Identifier: Apache-2.0
// The launcher's side of launcher/api/guest.h, as far as a guest needs it: it lays out a system of
// three cores, of which the guest has two.
//
//   mixed_launcher MEGABYTES CORE CORE FAULT COMMAND...
//
// CORE: which of the guest's board. FAULT: of exchange.h, by a task of the guest's first core.
// COMMAND starts the guest's machine; the device is added. What is found goes to the output, one
// `key value` in each line.

#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exchange.h"
#include "kernel.h"
#include "wb/launcher.h"
#include "wb/wb.h"

enum {
    VECTORS = 4,
    STACK_BYTES = 32 << 10,
    GUARD_BYTES = 64 << 10,
    HEAP_BYTES = 16 << 10,
    CALLS = 300,
    MOVES = 40,
    PINGS = 200,
    PINGS_NS = 2000000000,  // for more of them
    NARROW_NS = 2000,
    OURS = 0,
    THEIRS = 1,  // programs
    LIMIT_S = 120
};

static uint64_t memory_bytes;
static int memory_fd, own_doorbell, guest_doorbells[VECTORS], line;
static pid_t machine;
static struct wb_guest *page;
static uint64_t inexact_ns;  // of the guest's clock

static _Noreturn void fail(const char *text)
{
    printf("failed %s\n", text);
    exit(1);
}

static void expect(bool holds, const char *text)
{
    if (!holds)
        fail(text);
}

// ---- The machine --------------------------------------------------------------------------------

static void map_memory(void)
{
    memory_fd = memfd_create("gvm", 0);
    expect(ftruncate(memory_fd, (off_t)memory_bytes) == 0, "memory");
    void *at = (void *)(uintptr_t)WB_GUEST_MEMORY;
    expect(mmap(at, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                memory_fd, 0) == at,
           "mmap");
    page = wb_guest_page(memory_bytes, 0);
    page->magic = WB_GUEST_MAGIC;
    page->bytes = memory_bytes;
}

static void tell(int64_t number, int fd)
{
    struct iovec data = { .iov_base = &number, .iov_len = sizeof number };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof fd)];
    } control = { .head = { .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS,
                            .cmsg_len = CMSG_LEN(sizeof fd) } };
    struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

    if (fd >= 0) {
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    expect(sendmsg(line, &message, 0) == sizeof number, "sendmsg");
}

// ivshmem's server: its version, the number of the guest, its memory, and everybody's doorbells.
static void serve(void)
{
    own_doorbell = eventfd(0, EFD_CLOEXEC);
    tell(0, -1);
    tell(1, -1);
    tell(-1, memory_fd);
    tell(0, own_doorbell);
    for (uint32_t i = 0; i < VECTORS; i++) {
        guest_doorbells[i] = eventfd(0, EFD_CLOEXEC);
        tell(1, guest_doorbells[i]);
    }
}

static void start_machine(char **command, int n)
{
    char chardev[64], device[64];
    char **words = calloc((size_t)n + 5, sizeof *words);
    int ends[2];

    expect(words != NULL && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "line");
    line = ends[0];
    memcpy(words, command, (size_t)n * sizeof *words);
    snprintf(chardev, sizeof chardev, "socket,id=gvm,fd=%d", ends[1]);
    snprintf(device, sizeof device, "ivshmem-doorbell,vectors=%d,chardev=gvm", VECTORS);
    words[n] = "-chardev", words[n + 1] = chardev;
    words[n + 2] = "-device", words[n + 3] = device;
    const pid_t parent = getpid();
    machine = fork();
    if (machine == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        const int end = dup(ends[1]);  // without CLOEXEC
        snprintf(chardev, sizeof chardev, "socket,id=gvm,fd=%d", end);
        execvp(words[0], words);
        _exit(127);
    }
    close(ends[1]);
    serve();
}

static void end(const char *what, int status)
{
    printf("%s %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

static void look_after(uint64_t until_ns)
{
    int status;

    if (waitpid(machine, &status, WNOHANG) == machine) {
        if (wb_word_load(&page->state, WB_ACQUIRE) == WB_GUEST_FAILED)
            printf("error %s\n", page->error);
        end("early_status", status);
        fail("the machine has ended");
    }
    expect(wb_now_ns() < until_ns, "time");
}

static void await(enum wb_guest_state state)
{
    const uint64_t until_ns = wb_now_ns() + LIMIT_S * UINT64_C(1000000000);

    while (wb_word_load(&page->state, WB_ACQUIRE) != state) {
        look_after(until_ns);
        usleep(100);
    }
}

static void await_end(void)
{
    int status;

    expect(waitpid(machine, &status, 0) == machine, "waitpid");
    printf("state %u\n", wb_word_load(&page->state, WB_ACQUIRE));
    end("status", status);
}

// ---- Until the system is laid out ---------------------------------------------------------------

static void compare(void)
{
    printf("layout %d\n", page->layout == wb_layout());
    printf("plan %s\n", page->plan);
    printf("cores %u\n", page->cores);
}

// What the guest's clock is behind ours lies between two limits, and each ping may narrow them: it
// answers after it is asked, and before we know. They tell more than the quickest ping does where
// both have few processors.
static void measure_clock(void)
{
    const uint64_t until_ns = wb_now_ns() + PINGS_NS;
    int64_t least_ns = INT64_MIN, most_ns = INT64_MAX;

    for (uint32_t i = 1; i <= PINGS || (most_ns - least_ns > NARROW_NS && wb_now_ns() < until_ns);
         i++) {
        const uint64_t from_ns = wb_now_ns();
        wb_word_store(&page->ping, i, WB_RELEASE);
        while (wb_word_load(&page->pong, WB_ACQUIRE) != i)
            expect(wb_now_ns() - from_ns < LIMIT_S * UINT64_C(1000000000), "pong");
        const int64_t least = (int64_t)(from_ns - page->now_ns);
        const int64_t most = (int64_t)(wb_now_ns() - page->now_ns);
        least_ns = least > least_ns ? least : least_ns;
        most_ns = most < most_ns ? most : most_ns;
    }
    page->offset_ns = least_ns + (most_ns - least_ns) / 2;
    inexact_ns = (uint64_t)(most_ns - least_ns) / 2;
    printf("inexact_ns %" PRIu64 "\n", inexact_ns);
}

static void count(void)
{
    const uint64_t until_ns = wb_now_ns() + LIMIT_S * UINT64_C(1000000000);

    wb_word_store(&page->count, 1, WB_RELEASE);
    // Not before the guest does.
    while (wb_word_load(&page->contended, WB_RELAXED) == 0)
        look_after(until_ns);
    for (uint32_t i = 0; i < WB_GUEST_CONTENDED; i++)
        (void)wb_word_add(&page->contended, 1, WB_RELAXED);
    while (wb_word_load(&page->count, WB_ACQUIRE) != 2)
        look_after(until_ns);
    printf("lost %u\n", 2 * WB_GUEST_CONTENDED - wb_word_load(&page->contended, WB_ACQUIRE));
}

// ---- The system ---------------------------------------------------------------------------------

static uint64_t round_trips_ns[CALLS];
static uint32_t out_of_order, out_of_time;

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

// On core 0.
static int caller(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(struct call));
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(struct call));

    for (uint32_t i = 0; i < CALLS; i++) {
        struct call call = { .number = i };
        usleep(1000);
        const uint64_t from_ns = wb_now_ns();
        if (wb_port_send(out, &call, WB_FOREVER) != WB_OK ||
            wb_port_receive(in, &call, WB_FOREVER) != WB_OK)
            return 1;
        const uint64_t to_ns = wb_now_ns();
        round_trips_ns[i] = to_ns - from_ns;
        out_of_order += call.number != i;
        out_of_time += call.guest_ns + inexact_ns < from_ns || call.guest_ns > to_ns + inexact_ns;
    }
    return 0;
}

static int elsewhere(struct wb_task *self)
{
    (void)self;
    return 1;
}

static struct wb_system *begin_system(void)
{
    struct wb_system *system;
    const struct wb_system_config config = { .cores = 3,
                                             .tasks = 8,
                                             .channels = 4,
                                             .ports = 8,
                                             .params = 1,
                                             .core_align = WB_LINE_BYTES,
                                             .programs = 2,
                                             .offer_timeout_ns = 5000000000 };
    const size_t bytes = memory_bytes - WB_GUEST_PAGE_BYTES;

    expect(wb_system_init(&system, (void *)(uintptr_t)WB_GUEST_MEMORY, bytes, &config) == WB_OK,
           "system");
    for (uint32_t i = 1; i < 3; i++)
        expect(wb_core_set_program(system->cores[i], THEIRS) == WB_OK, "program");
    system->programs[THEIRS].can = page->can;
    return system;
}

static struct wb_task *add(struct wb_system *system, const char *name, uint32_t core,
                           wb_task_entry *entry, enum wb_mode mode)
{
    struct wb_task *task;
    const struct wb_task_config config = {
        .name = name,
        .core = core,
        .priority = 3,
        .entry = entry,
        .mode = mode,
        .migratable = mode == WB_REENTER,
        .stack =
            (unsigned char *)wb_system_alloc(system, GUARD_BYTES + STACK_BYTES, 4096) + GUARD_BYTES,
        .stack_bytes = STACK_BYTES,
        .heap_bytes = HEAP_BYTES,
    };

    expect(wb_task_add(system, &config, &task) == WB_OK, name);
    return task;
}

static void bind_channel(struct wb_system *system, const char *name, struct wb_task *from,
                         struct wb_task *to, uint32_t slot_bytes)
{
    struct wb_channel *channel;

    expect(wb_channel_add(
               system,
               &(struct wb_channel_config){ .name = name, .slots = 8, .slot_bytes = slot_bytes },
               &channel) == WB_OK &&
               wb_port_add(from, channel, WB_OUT, "out", 0) == WB_OK &&
               wb_port_add(to, channel, WB_IN, "in", 0) == WB_OK,
           name);
}

struct tasks {
    struct wb_task *caller, *source, *sink, *echo, *walker;
};

// In the order of exchange_plan.c.
static struct tasks lay_out(struct wb_system *system)
{
    const struct tasks t = {
        .caller = add(system, "caller", 0, caller, WB_HANDOFF),
        .source = add(system, "source", 1, elsewhere, WB_HANDOFF),
        .sink = add(system, "sink", 2, elsewhere, WB_HANDOFF),
        .echo = add(system, "echo", 2, elsewhere, WB_HANDOFF),
        .walker = add(system, "walker", 1, elsewhere, WB_REENTER),
    };

    bind_channel(system, "stream", t.source, t.sink, sizeof(uint32_t));
    bind_channel(system, "calls", t.caller, t.echo, sizeof(struct call));
    bind_channel(system, "answers", t.echo, t.caller, sizeof(struct call));
    expect(wb_system_reserve(system) && wb_system_start(system, wb_now_ns()) == WB_OK, "start");
    return t;
}

// Core i + 1 of the system is the board's `cores[i]`.
static void introduce(struct wb_system *system, const uint32_t cores[2])
{
    for (uint32_t i = 0; i < WB_GUEST_CORES; i++)
        page->core[i] = WB_CORE_NONE;
    for (uint32_t i = 0; i < 2; i++)
        page->core[cores[i]] = i + 1;
    page->doorbell[0] = 0u << 16 | 0;  // the first vector of peer 0
    page->system = system;
    page->program = THEIRS;
    page->guard_bytes = GUARD_BYTES;
    wb_word_store(&page->state, WB_GUEST_GO, WB_RELEASE);
    await(WB_GUEST_UP);
}

// ---- Running ------------------------------------------------------------------------------------

static void walk(struct wb_task *walker)
{
    uint64_t took_ns[MOVES];

    for (uint32_t i = 0; i < MOVES; i++) {
        const uint64_t from_ns = wb_now_ns(), until_ns = from_ns + LIMIT_S * UINT64_C(1000000000);
        enum wb_status outcome;
        uint32_t number;
        expect(wb_migration_begin(walker, 2 - i % 2, WB_FOREVER, &number) == WB_OK, "request");
        while ((outcome = wb_migration_outcome(walker, number)) == WB_ERR_EMPTY)
            look_after(until_ns);
        expect(outcome == WB_OK, wb_status_text(outcome));
        took_ns[i] = wb_now_ns() - from_ns;
    }
    qsort(took_ns, MOVES, sizeof *took_ns, by_value);
    printf("move_ns %" PRIu64 "\n", took_ns[MOVES / 2]);
}

static void report(const struct tasks *t)
{
    const struct exchanged *exchanged = wb_task_state(t->sink);
    const struct walked *walked = wb_task_state(t->walker);

    qsort(round_trips_ns, CALLS, sizeof *round_trips_ns, by_value);
    printf("round_trip_ns %" PRIu64 "\n", round_trips_ns[CALLS / 2]);
    printf("out_of_order %u\n", out_of_order);
    printf("out_of_time %u\n", out_of_time);
    printf("exchanged %u\n", exchanged != NULL ? exchanged->in_order : 0);
    printf("lives %u\n", walked != NULL ? walked->lives : 0);
    if (wb_word_load(&t->caller->system->fault.complete, WB_ACQUIRE) != 0)
        printf("fault %s\n", t->caller->system->fault.text);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    expect(argc > 5, "arguments");
    const uint32_t cores[2] = { (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]) };
    memory_bytes = (uint64_t)atoi(argv[1]) << 20;
    map_memory();
    const uint64_t from_ns = wb_now_ns();
    start_machine(argv + 5, argc - 5);
    await(WB_GUEST_READY);
    printf("ready_ms %" PRIu64 "\n", (wb_now_ns() - from_ns) / 1000000);
    compare();
    measure_clock();
    count();
    for (uint32_t i = 0; i < 2; i++)
        kernel_doorbells(own_doorbell, i + 1, guest_doorbells[cores[i] % VECTORS]);
    struct wb_system *system = begin_system();
    const double fault = atoi(argv[4]);
    expect(wb_param_add(system, "fault", argv[4], &fault, 1) == WB_OK, "parameter");
    const struct tasks tasks = lay_out(system);
    introduce(system, cores);
    if (fault == FAULT_NONE) {
        kernel_run(system->cores[0], tasks.caller);
        walk(tasks.walker);
        wb_system_stop(system);
    }
    await_end();
    report(&tasks);
    return 0;
}
