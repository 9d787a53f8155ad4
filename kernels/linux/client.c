// SPDX-License-Identifier: Apache-2.0
// The task in a client's place (clients/c/packet.h): it alone has ports, the client has a
// socket. So a client that dies, or writes nonsense, ends its connection and nothing else.
//
// It waits for its ports and the sockets together, and for a socket or for its port, not for both:
// a message is taken from the one only when the other has room for it. A socket that a client
// receives from is watched besides, to see the client leave.
//
// If the kernel is killed while the task waits, it goes on in another process, which has none of
// its descriptors: then all its clients have left. So what it keeps is in its heap.
//
// A message is copied once, from the socket into the slot that was claimed for it. It is looked at
// before it is committed, so what makes no sense never becomes a message.

#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "packet.h"
#include "wb/wb.h"

enum {
    BACKLOG = 8,
    TURN = 64,  // messages of a port in a row, before the others have their turn
};

static const uint64_t look_ns = 50000000;     // at what rings nobody: the end of the run
static const uint64_t silent_ns = 500000000;  // for which a pending client may leave out its hello
static const uint64_t grace_ns = 1000000000;  // for a client to come, once all has been sent to it

// ---- Sockets ------------------------------------------------------------------------------------

static struct {
    struct {
        int fd;
        struct sockaddr_un address;
    } * of;  // by the number of the task; fd 0: none
    uint32_t n;
    uint32_t run;  // drawn at the start
} sockets;

static bool is_one_of_several(const struct plan *plan, uint32_t task)
{
    for (uint32_t i = 0; i < plan->n_tasks; i++)
        if (i != task && strcmp(plan->tasks[i].config.name, plan->tasks[task].config.name) == 0)
            return true;
    return false;
}

static bool name_socket(const struct plan *plan, uint32_t task, struct sockaddr_un *address)
{
    const struct wb_task_config *config = &plan->tasks[task].config;
    char index[16] = "";

    if (is_one_of_several(plan, task))
        snprintf(index, sizeof index, ".%u", (unsigned)config->index);
    address->sun_family = AF_UNIX;
    const int n = snprintf(address->sun_path, sizeof address->sun_path, "%s/%s%s.client",
                           plan->clients, config->name, index);
    return n > 0 && (size_t)n < sizeof address->sun_path;
}

static bool open_one(const struct plan *plan, uint32_t task)
{
    struct sockaddr_un *address = &sockets.of[task].address;

    errno = ENAMETOOLONG;
    if (!name_socket(plan, task, address))
        return false;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    sockets.of[task].fd = fd;
    return bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
           listen(fd, BACKLOG) == 0;
}

bool clients_open(const struct plan *plan, const char **task)
{
    sockets.of = calloc(plan->n_tasks, sizeof *sockets.of);
    if (sockets.of == NULL || getrandom(&sockets.run, sizeof sockets.run, 0) < 0)
        return false;
    sockets.n = plan->n_tasks;
    for (uint32_t i = 0; i < plan->n_tasks; i++) {
        *task = plan->tasks[i].config.name;
        if (strcmp(plan->tasks[i].entry, CLIENT_ENTRY) == 0 && !open_one(plan, i))
            return false;
    }
    return true;
}

void clients_close(void)
{
    for (uint32_t i = 0; i < sockets.n; i++)
        if (sockets.of[i].fd != 0)
            (void)unlink(sockets.of[i].address.sun_path);
}

// ---- A port and its client ----------------------------------------------------------------------

struct end {
    struct wb_port *port;
    int fd;        // of its client; -1: none
    bool no_room;  // in the socket, as last seen
    bool closed;
    const void *held;  // input: the message that comes next
    void *claimed;     // output: where the next one goes
};

static void leave(struct end *end)
{
    if (end->fd >= 0)
        close(end->fd);
    end->fd = -1;
    end->no_room = false;
}

// The last packet of a connection. A client that does not take it sees the connection end.
static void dismiss(struct end *end, uint32_t kind)
{
    const struct client_head head = { .kind = kind };

    if (end->fd >= 0)
        (void)send(end->fd, &head, sizeof head, MSG_DONTWAIT | MSG_NOSIGNAL);
    leave(end);
}

static void shut(struct end *end, uint32_t kind)
{
    dismiss(end, kind);
    wb_port_close(end->port);
    end->closed = true;
}

// Of the message that is held: what recovery takes from the channel's index, so that it is the
// same if the message comes again. Void slots of a mailbox are counted by its position alone.
static uint32_t number(const struct wb_port *in)
{
    return in->channel->tickets != NULL ? in->committed : (uint32_t)wb_port_messages(in);
}

// From the channel to the client. False: not now.
static bool hand_over(struct end *end)
{
    struct client_head head = { .kind = CLIENT_MESSAGE };

    if (end->held == NULL) {
        const enum wb_status status = wb_port_hold(end->port, &end->held, 0);
        if (status == WB_ERR_GONE)
            shut(end, CLIENT_END);
        if (status != WB_OK)
            return false;
    }
    head.number = number(end->port);
    struct iovec parts[] = { { &head, sizeof head },
                             { (void *)(uintptr_t)end->held, wb_port_slot_bytes(end->port) } };
    const struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
    if (sendmsg(end->fd, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        end->no_room = errno == EAGAIN;
        if (!end->no_room && errno != EINTR)
            leave(end);
        return false;
    }
    end->no_room = false;
    end->held = NULL;
    return wb_port_release(end->port) == WB_OK;
}

static bool claim(struct end *end)
{
    const enum wb_status status =
        end->claimed != NULL ? WB_OK : wb_port_claim(end->port, &end->claimed, 0);

    if (status == WB_ERR_GONE)
        shut(end, CLIENT_END);
    return status == WB_OK;
}

// From the client to the channel. False: not now.
static bool take_over(struct end *end)
{
    const uint32_t bytes = wb_port_slot_bytes(end->port);
    struct client_head head = { .kind = CLIENT_REFUSED };

    if (!claim(end))
        return false;
    struct iovec parts[] = { { &head, sizeof head }, { end->claimed, bytes } };
    struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
    const ssize_t n = recvmsg(end->fd, &packet, MSG_DONTWAIT | MSG_TRUNC);
    if (n == (ssize_t)(sizeof head + bytes) && head.kind == CLIENT_MESSAGE) {
        end->claimed = NULL;
        return wb_port_commit(end->port) == WB_OK;
    }
    if (n == (ssize_t)sizeof head && head.kind == CLIENT_END)
        shut(end, CLIENT_END);
    else if (n > 0)
        dismiss(end, CLIENT_REFUSED);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        leave(end);
    return false;
}

// A client that receives has nothing to say: it has left, or does not know what it does.
static void look_for_the_end(struct end *end)
{
    char any;
    const ssize_t n = recv(end->fd, &any, sizeof any, MSG_DONTWAIT);

    if (n > 0)
        dismiss(end, CLIENT_REFUSED);
    else if (n == 0 || errno != EAGAIN)
        leave(end);
}

static void pass(struct end *end)
{
    const bool in = wb_port_is_input(end->port);

    if (in && end->fd >= 0)
        look_for_the_end(end);
    for (uint32_t i = 0; i < TURN && end->fd >= 0; i++)
        if (in ? !hand_over(end) : !take_over(end))
            return;
}

// ---- All of them --------------------------------------------------------------------------------

struct server {
    struct wb_task *self;
    pid_t process;          // that has the descriptors
    int listener, pending;  // pending: has connected, and has not said yet to which port; -1: none
    uint64_t pending_ns;    // since when
    bool full;              // this process has no descriptor for who knocks
    uint64_t orphaned_ns;   // since when a port has all there will be, and no client; 0: none has
    struct end *ends;
    struct wb_wait *set;
    uint32_t n;
};

static bool open_server(struct server *server, struct wb_task *self)
{
    uint32_t n = 0;

    for (struct wb_port *port = NULL; (port = wb_port_next(self, port)) != NULL;)
        n++;
    *server = (struct server){ .self = self, .listener = sockets.of[self->id].fd, .pending = -1 };
    server->process = getpid();
    server->ends = wb_calloc(n, sizeof *server->ends);
    server->set = wb_calloc(2 * (size_t)n + 2, sizeof *server->set);
    if (server->ends == NULL || server->set == NULL)
        return false;
    for (struct wb_port *port = NULL; (port = wb_port_next(self, port)) != NULL;)
        server->ends[server->n++] = (struct end){ .port = port, .fd = -1 };
    return true;
}

static void close_server(struct server *server)
{
    for (uint32_t i = 0; i < server->n; i++)
        leave(&server->ends[i]);
    if (server->pending >= 0)
        close(server->pending);
    wb_free(server->ends);
    wb_free(server->set);
}

static void come_to_another_process(struct server *server)
{
    server->process = getpid();
    server->pending = -1;
    server->full = false;
    for (uint32_t i = 0; i < server->n; i++) {
        server->ends[i].fd = -1;
        server->ends[i].no_room = false;
    }
}

static struct end *find_end(struct server *server, const struct client_hello *hello)
{
    for (uint32_t i = 0; i < server->n; i++)
        if (strncmp(wb_port_name(server->ends[i].port), hello->port, sizeof hello->port) == 0 &&
            server->ends[i].port->index == hello->index)
            return &server->ends[i];
    return NULL;
}

// A socket that cannot hold a message would never have room for it.
static bool widen(int fd, uint32_t slot_bytes)
{
    const uint64_t packet = slot_bytes + (uint64_t)sizeof(struct client_head);
    int bytes = client_buffer_bytes(slot_bytes);
    socklen_t n = sizeof bytes;

    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, n);
    return getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &n) == 0 && (uint64_t)bytes / 2 >= packet;
}

static enum wb_status admit(struct end *end, int pending, uint32_t version)
{
    if (end == NULL || version != CLIENT_VERSION)
        return WB_ERR_INVAL;
    if (end->closed)
        return WB_ERR_GONE;
    if (end->fd >= 0)
        return WB_ERR_BUSY;
    return widen(pending, wb_port_slot_bytes(end->port)) ? WB_OK : WB_ERR_NOMEM;
}

static void accept_hello(struct server *server)
{
    struct client_hello hello = { 0 };
    struct client_welcome welcome = { .status = WB_ERR_INVAL, .run = sockets.run };
    const ssize_t n = recv(server->pending, &hello, sizeof hello, MSG_DONTWAIT | MSG_TRUNC);
    struct end *end = NULL;

    if (n < 0 && errno == EAGAIN && clock_now_ns() - server->pending_ns < silent_ns)
        return;
    if (n == (ssize_t)sizeof hello) {
        end = find_end(server, &hello);
        welcome.status = admit(end, server->pending, hello.version);
    }
    if (end != NULL) {
        welcome.slot_bytes = wb_port_slot_bytes(end->port);
        welcome.is_receiver = wb_port_is_input(end->port);
    }
    const bool heard =
        send(server->pending, &welcome, sizeof welcome, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
    if (welcome.status == WB_OK && heard)
        end->fd = server->pending;
    else
        close(server->pending);
    server->pending = -1;
}

static void accept_pending(struct server *server)
{
    if (server->pending < 0) {
        server->pending = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        server->pending_ns = clock_now_ns();
        server->full =
            server->pending < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
    }
    if (server->pending >= 0)
        accept_hello(server);
}

static struct wb_wait a_file(int fd, uint32_t events)
{
    return (struct wb_wait){ .file = fd, .events = events };
}

// What may go on without any more being known.
static uint32_t gather(struct server *server)
{
    uint32_t n = 0;

    // Who knocks in vain keeps the listener readable: until there is room, it is tried in time.
    if (server->pending >= 0 || !server->full)
        server->set[n++] =
            a_file(server->pending >= 0 ? server->pending : server->listener, WB_FILE_READABLE);
    for (uint32_t i = 0; i < server->n; i++) {
        const struct end *end = &server->ends[i];
        if (end->closed || end->fd < 0)
            continue;
        const bool in = wb_port_is_input(end->port);
        if (in ? !end->no_room && end->held == NULL : end->claimed == NULL)
            server->set[n++] = (struct wb_wait){ .port = end->port };
        if (in || end->claimed != NULL)
            server->set[n++] =
                a_file(end->fd, WB_FILE_READABLE | (end->no_room ? WB_FILE_WRITABLE : 0));
    }
    return n;
}

static bool all_sent(const struct end *end)
{
    // Acquire: with the end of its senders everything that they sent is seen.
    return wb_port_is_input(end->port) &&
           wb_word_load(&end->port->channel->senders_open, WB_ACQUIRE) == 0;
}

// What rings nobody: the run is to end, or nobody comes for what is left.
static void look_around(struct server *server)
{
    const bool stopping = wb_stopping(server->self);
    const uint64_t now_ns = clock_now_ns();
    bool orphaned = false;

    for (uint32_t i = 0; i < server->n; i++) {
        struct end *end = &server->ends[i];
        if (end->closed)
            continue;
        if (stopping && !wb_port_is_input(end->port))
            shut(end, CLIENT_END);
        else if (end->fd < 0 && all_sent(end)) {
            orphaned = true;
            if (server->orphaned_ns != 0 && now_ns - server->orphaned_ns > grace_ns)
                shut(end, CLIENT_END);
        }
    }
    if (!orphaned)
        server->orphaned_ns = 0;
    else if (server->orphaned_ns == 0)
        server->orphaned_ns = now_ns;
}

static bool is_over(const struct server *server)
{
    for (uint32_t i = 0; i < server->n; i++)
        if (!server->ends[i].closed)
            return false;
    return true;
}

int client_run(struct wb_task *self)
{
    struct server server;
    int status = 0;

    if (!open_server(&server, self))
        status = WB_ERR_NOMEM;
    while (status == 0 && !is_over(&server)) {
        const int ready = wb_wait(server.set, gather(&server), look_ns);
        if (getpid() != server.process)
            come_to_another_process(&server);
        else if (ready < 0 && ready != WB_ERR_TIMEOUT)
            status = ready;
        accept_pending(&server);
        for (uint32_t i = 0; i < server.n; i++)
            if (!server.ends[i].closed)
                pass(&server.ends[i]);
        look_around(&server);
        wb_checkpoint();
    }
    close_server(&server);
    return status;
}
