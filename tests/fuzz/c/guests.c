// SPDX-License-Identifier: Apache-2.0
// The task in the place of clients (kernels/linux/client.c), whose clients and whose channels do
// what the input says: each time that it waits, the next few steps are played, and then its wait is
// over. Its source is part of this file, for its sockets.
#define _GNU_SOURCE
#include <sys/socket.h>
#include <unistd.h>

// What the task has accepted, which goes with the process of its kernel.
static int accepted(int listener, struct sockaddr *address, socklen_t *bytes, int flags);
static int closed(int fd);
static pid_t process(void);

#define accept4 accepted
#define close closed
#define getpid process
#include "../../../kernels/linux/client.c"
#undef getpid
#undef close
#undef accept4

#include "kernel_stub.h"
#include "target.h"

enum { GUESTS = 6, STEPS = 3, PACKET_MOST = 128, PORTS = 3, ROUNDS_MOST = 100, FOLDER_BYTES = 64 };
enum { CORES = 4, ACCEPTED_MOST = 16 };
enum { MEMORY_BYTES = 1 << 16, MESSAGE_MOST = 16 };

static const struct {
    const char *name;
    uint32_t slots, slot_bytes;
    bool mailbox, to_client;
} channels[PORTS] = {
    { "a", 4, 8, false, true },
    { "b", 4, 12, true, true },
    { "c", 4, MESSAGE_MOST, false, false },
};

static struct {
    const uint8_t *data;
    size_t bytes;
    struct wb_task *self, *peer;
    struct wb_port *ports[PORTS];  // the peer's
    uint32_t sent[PORTS];
    int guests[GUESTS];
    int welcomed[GUESTS];  // the port that a guest has; -1: none
    uint32_t rounds;       // since all has been played
    uint32_t core;         // that the task is on
    int accepted[ACCEPTED_MOST];
    uint32_t n_accepted;
} game;

static int accepted(int listener, struct sockaddr *address, socklen_t *bytes, int flags)
{
    const int fd = accept4(listener, address, bytes, flags);

    if (fd >= 0) {
        MUST(game.n_accepted < ACCEPTED_MOST);
        game.accepted[game.n_accepted++] = fd;
    }
    return fd;
}

// Each core's is another.
static pid_t process(void)
{
    return (pid_t)game.core + 1;
}

static int closed(int fd)
{
    for (uint32_t i = 0; i < game.n_accepted; i++)
        if (game.accepted[i] == fd) {
            game.accepted[i] = game.accepted[--game.n_accepted];
            return close(fd);
        }
    // It closes nothing but what it has accepted, once.
    abort();
}

uint64_t clock_now_ns(void)
{
    return stub.now_ns;
}

static uint8_t next(void)
{
    if (game.bytes == 0)
        return 0;
    game.bytes--;
    return *game.data++;
}

// ---- What is played -----------------------------------------------------------------------------

static void drop(uint32_t guest)
{
    if (game.guests[guest] >= 0)
        close(game.guests[guest]);
    game.guests[guest] = game.welcomed[guest] = -1;
}

static void come(uint32_t guest)
{
    const struct sockaddr_un *address = &sockets.of[0].address;

    drop(guest);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    MUST(fd >= 0);
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
        game.guests[guest] = fd;
    else
        close(fd);
}

static void say(uint32_t guest, const void *packet, size_t bytes)
{
    if (game.guests[guest] >= 0)
        (void)send(game.guests[guest], packet, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void say_anything(uint32_t guest)
{
    uint8_t packet[PACKET_MOST];
    const size_t n = next() % sizeof packet;

    for (size_t i = 0; i < n; i++)
        packet[i] = next();
    say(guest, packet, n);
}

static void say_hello(uint32_t guest, uint8_t port)
{
    const bool in = port % PORTS < 2;
    struct client_hello hello = { .version = CLIENT_VERSION, .index = in ? port % PORTS : 0 };

    snprintf(hello.port, sizeof hello.port, "%s", in ? "in" : "out");
    say(guest, &hello, sizeof hello);
}

static void say_message(uint32_t guest, uint32_t kind)
{
    uint8_t packet[sizeof(struct client_head) + MESSAGE_MOST];
    const struct client_head head = { .kind = kind };

    memset(packet, next(), sizeof packet);
    memcpy(packet, &head, sizeof head);
    say(guest, packet, kind == CLIENT_END ? sizeof head : sizeof packet);
}

// Of a port, so far: a run neither invents messages nor sends a part of one.
static void hear(uint32_t guest)
{
    union {
        struct client_welcome welcome;
        struct client_head head;
        uint8_t bytes[PACKET_MOST];
    } packet;
    const int port = game.welcomed[guest];

    if (game.guests[guest] < 0)
        return;
    const ssize_t n = recv(game.guests[guest], &packet, sizeof packet, MSG_DONTWAIT);
    if (n <= 0)
        return;
    if (n == (ssize_t)sizeof packet.head) {
        MUST(packet.head.kind == CLIENT_END || packet.head.kind == CLIENT_REFUSED);
        return;
    }
    if (port < 0) {
        MUST(n == (ssize_t)sizeof packet.welcome && packet.welcome.run == sockets.run);
        if (packet.welcome.status != WB_OK)
            return;
        for (int i = 0; i < PORTS; i++)
            if (channels[i].slot_bytes == packet.welcome.slot_bytes) {
                MUST(channels[i].to_client == (packet.welcome.is_receiver == 1));
                game.welcomed[guest] = i;
            }
        MUST(game.welcomed[guest] >= 0);
        return;
    }
    uint32_t number;
    MUST(channels[port].to_client && packet.head.kind == CLIENT_MESSAGE);
    MUST(n == (ssize_t)(sizeof packet.head + channels[port].slot_bytes));
    memcpy(&number, packet.bytes + sizeof packet.head, sizeof number);
    MUST(number < game.sent[port]);
}

static void peer_passes(uint32_t port)
{
    uint8_t message[MESSAGE_MOST] = { 0 };

    if (wb_word_load(&game.ports[port]->closed, WB_RELAXED) != 0)
        return;
    stub_become(0, game.peer);
    if (channels[port].to_client) {
        memcpy(message, &game.sent[port], sizeof game.sent[port]);
        // Counted first: it may be on its way as soon as it is there.
        if (wb_port_send(game.ports[port], message, 0) == WB_OK)
            game.sent[port]++;
    } else {
        (void)wb_port_receive(game.ports[port], message, 0);
    }
    stub_become(game.core, game.self);
}

static void peer_closes(uint32_t port)
{
    stub_become(0, game.peer);
    wb_port_close(game.ports[port]);
    stub_become(game.core, game.self);
}

// The task goes on in another process, which has none of its connections. No kernel comes again.
static void kernel_dies(void)
{
    const uint32_t place = wb_word_load(&game.self->owner_state, WB_SEQ_CST);

    if (game.core + 1 == CORES)
        return;
    while (game.n_accepted > 0)
        close(game.accepted[--game.n_accepted]);
    game.core++;
    wb_word_store(&game.self->owner_state, wb_owner_state(wb_task_state_of(place), game.core),
                  WB_SEQ_CST);
    stub_become(game.core, game.self);
}

static void step(void)
{
    const uint8_t what = next();
    const uint32_t guest = what / 16 % GUESTS;

    switch (what % 16) {
    case 0:
    case 1:
        come(guest);
        break;
    case 2:
        say_anything(guest);
        break;
    case 3:
    case 4:
        say_hello(guest, next());
        break;
    case 5:
    case 6:
        say_message(guest, CLIENT_MESSAGE);
        break;
    case 7:
        say_message(guest, next() % 4);
        break;
    case 8:
    case 9:
        hear(guest);
        break;
    case 10:
        drop(guest);
        break;
    case 11:
    case 12:
    case 13:
        peer_passes(next() % PORTS);
        break;
    case 14:
        stub.now_ns += next() * (uint64_t)10000000;
        break;
    default:
        if (guest == 0)
            kernel_dies();
        else
            peer_closes(next() % PORTS);
        break;
    }
}

static void play(uint64_t until_ns)
{
    for (int i = 0; i < STEPS && game.bytes > 0; i++)
        step();
    if (game.bytes == 0 && game.rounds++ == 0) {
        for (uint32_t i = 0; i < GUESTS; i++)
            drop(i);
        for (uint32_t i = 0; i < PORTS; i++)
            peer_closes(i);
        wb_system_stop(stub.system);
    }
    // With its channels closed and its run over, it ends.
    MUST(game.rounds < ROUNDS_MOST);
    if (until_ns != WB_FOREVER && stub.now_ns < until_ns)
        stub.now_ns = until_ns;
}

// ---- One input ----------------------------------------------------------------------------------

static char folder[FOLDER_BYTES];

static void end_of_all(void)
{
    clients_close();
    rmdir(folder);
}

static void begin(void)
{
    static struct plan_task task = { .config = { .name = "feed" }, .entry = CLIENT_ENTRY };
    static struct plan plan = { .n_tasks = 1, .tasks = &task, .clients = folder };
    const char *failed;

    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/whimbrel-fuzz-XXXXXX", base != NULL ? base : "/tmp");
    MUST(mkdtemp(folder) != NULL && clients_open(&plan, &failed));
    atexit(end_of_all);
}

static void build(void)
{
    static _Alignas(4096) unsigned char memory[MEMORY_BYTES];

    stub_use(memory, sizeof memory);
    stub_open(&(struct wb_system_config){ .cores = CORES,
                                          .tasks = 2,
                                          .channels = PORTS,
                                          .ports = 2 * PORTS,
                                          .core_align = WB_LINE_BYTES,
                                          .offer_timeout_ns = 1000 });
    game.self = stub_task("feed", 0);
    game.peer = stub_task("peer", 0);
    for (uint32_t i = 0; i < PORTS; i++) {
        struct wb_channel *channel = stub_channel(channels[i].name, channels[i].slots,
                                                  channels[i].slot_bytes, channels[i].mailbox);
        const enum wb_direction own = channels[i].to_client ? WB_IN : WB_OUT;
        build_port(game.self, channel, own);
        game.ports[i] = build_port(game.peer, channel, own == WB_IN ? WB_OUT : WB_IN);
    }
    stub.file = WB_ERR_EMPTY;
    stub.on_block = play;
    stub_start(stub.system);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (folder[0] == '\0')
        begin();
    memset(&game, 0, sizeof game);
    game.data = data;
    game.bytes = bytes;
    for (uint32_t i = 0; i < GUESTS; i++)
        game.guests[i] = game.welcomed[i] = -1;
    build();
    stub_become(0, game.self);
    MUST(client_run(game.self) == 0 && game.n_accepted == 0);
    stub_leave();
    // Who came too late for this one is none of the next.
    for (int late; (late = accept(sockets.of[0].fd, NULL, NULL)) >= 0;)
        close(late);
    return 0;
}
