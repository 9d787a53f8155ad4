// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "whimbrel_client.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "packet.h"

enum {
    AGAIN_MS = 10,     // between two attempts to attach
    ANSWER_MS = 1000,  // for which an attempt waits for its answer even if there is less time
};

struct wb_client {
    struct sockaddr_un address;
    struct client_hello hello;
    struct client_welcome welcome;  // the first one: a later one says the same, but for the run
    int fd;                         // -1: not attached
    bool known;                     // there is a welcome
    bool has_one;                   // a message of this run was received
    uint32_t number;                // the last one's
    bool over;
};

// ---- Time ---------------------------------------------------------------------------------------

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// The end of a wait on now_ms(); -1: none.
static int64_t deadline(int timeout_ms)
{
    return timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
}

static int left_ms(int64_t until_ms)
{
    if (until_ms < 0)
        return -1;
    const int64_t left = until_ms - now_ms();
    return left > 0 ? (int)left : 0;
}

// ---- Attaching ----------------------------------------------------------------------------------

static bool name_socket(struct wb_client *client, const char *run, const char *task)
{
    const size_t room = sizeof client->address.sun_path;
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char *path = client->address.sun_path;
    int n;

    client->address.sun_family = AF_UNIX;
    if (strchr(run, '/') != NULL)
        n = snprintf(path, room, "%s/%s.client", run, task);
    else if (runtime != NULL && runtime[0] == '/')
        n = snprintf(path, room, "%s/whimbrel/%s/%s.client", runtime, run, task);
    else
        n = snprintf(path, room, "/tmp/whimbrel-%u/%s/%s.client", (unsigned)geteuid(), run, task);
    return n > 0 && (size_t)n < room;
}

// Anybody can make a folder in /tmp that is called like this user's.
static enum wb_status check_folder(const struct wb_client *client)
{
    char path[sizeof client->address.sun_path];
    struct stat folder;

    strcpy(path, client->address.sun_path);
    *strrchr(path, '/') = '\0';
    if (stat(path[0] != '\0' ? path : "/", &folder) != 0)
        return WB_ERR_GONE;
    return folder.st_uid == geteuid() ? WB_OK : WB_ERR_DENIED;
}

// Who listens: a folder may change hands between check_folder() and connect().
static enum wb_status check_peer(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0)
        return WB_ERR_GONE;
    return peer.uid == geteuid() ? WB_OK : WB_ERR_DENIED;
}

// The kernel of the client's task has died, or another run has come to have the name.
static enum wb_status take_welcome(struct wb_client *client, const struct client_welcome *welcome)
{
    // A port that had a client is closed: the end of the stream did not arrive, for want of room in
    // the socket or because a kernel died.
    client->over |= client->known && welcome->status == WB_ERR_GONE;
    if (welcome->status != WB_OK)
        return (enum wb_status)welcome->status;
    if (client->known && (welcome->slot_bytes != client->welcome.slot_bytes ||
                          welcome->is_receiver != client->welcome.is_receiver))
        return WB_ERR_INVAL;
    client->has_one = client->has_one && welcome->run == client->welcome.run;
    client->welcome = *welcome;
    client->known = true;
    return WB_OK;
}

static enum wb_status say_hello(struct wb_client *client, int fd, int64_t until_ms)
{
    struct pollfd answer = { .fd = fd, .events = POLLIN };
    struct client_welcome welcome;
    const int wait_ms = left_ms(until_ms);

    if (send(fd, &client->hello, sizeof client->hello, MSG_NOSIGNAL) < 0)
        return WB_ERR_GONE;
    if (poll(&answer, 1, wait_ms >= 0 && wait_ms < ANSWER_MS ? ANSWER_MS : wait_ms) <= 0 ||
        recv(fd, &welcome, sizeof welcome, 0) != (ssize_t)sizeof welcome)
        return WB_ERR_GONE;
    return take_welcome(client, &welcome);
}

// A socket that holds few messages, for they are lost if the kernel of the client's task is killed.
static void narrow(const struct wb_client *client)
{
    const int bytes = client_buffer_bytes(client->welcome.slot_bytes);

    if (client->welcome.is_receiver == 0)
        (void)setsockopt(client->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

static void detach(struct wb_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}

static enum wb_status attach_once(struct wb_client *client, int64_t until_ms)
{
    const struct sockaddr *address = (const struct sockaddr *)&client->address;
    enum wb_status status = check_folder(client);

    if (status != WB_OK)
        return status;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return WB_ERR_NOMEM;
    status = connect(fd, address, sizeof client->address) == 0 ? check_peer(fd) : WB_ERR_GONE;
    if (status == WB_OK)
        status = say_hello(client, fd, until_ms);
    if (status != WB_OK) {
        close(fd);
        return status;
    }
    detach(client);
    client->fd = fd;
    narrow(client);
    return WB_OK;
}

// What may be over in a moment: the run has not begun, another client has yet to leave.
static enum wb_status attach(struct wb_client *client, int64_t until_ms)
{
    for (;;) {
        const enum wb_status status = attach_once(client, until_ms);
        if (status != WB_ERR_GONE && status != WB_ERR_BUSY)
            return status;
        if (until_ms >= 0 && now_ms() >= until_ms)
            return status;
        poll(NULL, 0, AGAIN_MS);
    }
}

enum wb_status wb_client_open(struct wb_client **client, const char *run, const char *task,
                              const char *port, uint32_t index, int timeout_ms)
{
    struct wb_client *one = calloc(1, sizeof *one);

    *client = NULL;
    if (one == NULL)
        return WB_ERR_NOMEM;
    one->fd = -1;
    one->hello = (struct client_hello){ .version = CLIENT_VERSION, .index = index };
    enum wb_status status = WB_ERR_INVAL;
    if (name_socket(one, run, task) && strlen(port) < sizeof one->hello.port) {
        strcpy(one->hello.port, port);
        status = attach(one, deadline(timeout_ms));
    }
    if (status == WB_OK)
        *client = one;
    else
        free(one);
    return status;
}

uint32_t wb_client_bytes(const struct wb_client *client)
{
    return client->welcome.slot_bytes;
}

int wb_client_fd(const struct wb_client *client)
{
    return client->fd;
}

void wb_client_close(struct wb_client *client)
{
    if (client == NULL)
        return;
    detach(client);
    free(client);
}

// ---- Messages -----------------------------------------------------------------------------------

static enum wb_status over(struct wb_client *client)
{
    client->over = true;
    return WB_ERR_GONE;
}

// The kernel of the client's task has died, and another has the task by now; or the port is closed;
// or the run is over, and its socket with it. The old descriptor stays until there is a new one:
// it is ready for whoever polls it, so that an event loop tries again.
static enum wb_status attach_again(struct wb_client *client, int64_t until_ms, int none)
{
    (void)shutdown(client->fd, SHUT_RDWR);
    for (;;) {
        const enum wb_status status = attach_once(client, until_ms);
        if (status != WB_ERR_GONE && status != WB_ERR_BUSY)
            return status;
        if (client->over || (status == WB_ERR_GONE && access(client->address.sun_path, F_OK) != 0))
            return over(client);
        poll(NULL, 0, AGAIN_MS);
        if (until_ms >= 0 && now_ms() >= until_ms)
            return (enum wb_status)none;
    }
}

// Waits for what `events` says, and for less than for ever if the run goes away.
static enum wb_status await(struct wb_client *client, short events, int64_t until_ms, int none)
{
    struct pollfd one = { .fd = client->fd, .events = events };
    const int wait_ms = left_ms(until_ms);

    if (wait_ms == 0)
        return (enum wb_status)none;
    const int n = poll(&one, 1, wait_ms);
    return n == 0 ? WB_ERR_TIMEOUT : WB_OK;
}

static bool is_later(void)
{
    return errno == EAGAIN || errno == EINTR;
}

// The end of the stream comes as a packet of the run's, and so does its refusal.
static bool has_closed(const struct wb_client *client)
{
    struct client_head head;

    return recv(client->fd, &head, sizeof head, MSG_DONTWAIT) == (ssize_t)sizeof head &&
           head.kind != CLIENT_MESSAGE;
}

static enum wb_status send_packet(struct wb_client *client, struct msghdr *packet, int timeout_ms)
{
    const int64_t until_ms = deadline(timeout_ms);
    const int none = timeout_ms == 0 ? WB_ERR_FULL : WB_ERR_TIMEOUT;
    enum wb_status status = WB_OK;

    if (client->welcome.is_receiver != 0)
        return WB_ERR_INVAL;
    while (status == WB_OK && !client->over) {
        if (sendmsg(client->fd, packet, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
            return WB_OK;
        if (!is_later())
            status = has_closed(client) ? over(client) : attach_again(client, until_ms, none);
        else
            status = await(client, POLLOUT, until_ms, none);
    }
    return client->over ? WB_ERR_GONE : status;
}

enum wb_status wb_client_send(struct wb_client *client, const void *message, int timeout_ms)
{
    struct client_head head = { .kind = CLIENT_MESSAGE };
    struct iovec parts[] = { { &head, sizeof head },
                             { (void *)(uintptr_t)message, client->welcome.slot_bytes } };
    struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };

    return send_packet(client, &packet, timeout_ms);
}

enum wb_status wb_client_end(struct wb_client *client, int timeout_ms)
{
    struct client_head head = { .kind = CLIENT_END };
    struct iovec part = { &head, sizeof head };
    struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
    const enum wb_status status = send_packet(client, &packet, timeout_ms);

    client->over = client->over || status == WB_OK;
    return status;
}

// True: it comes for the first time.
static bool is_new(struct wb_client *client, uint32_t number)
{
    const bool is = !client->has_one || number != client->number;

    client->has_one = true;
    client->number = number;
    return is;
}

enum wb_status wb_client_receive(struct wb_client *client, void *message, int timeout_ms)
{
    const int64_t until_ms = deadline(timeout_ms);
    const int none = timeout_ms == 0 ? WB_ERR_EMPTY : WB_ERR_TIMEOUT;
    struct client_head head;
    struct iovec parts[] = { { &head, sizeof head }, { message, client->welcome.slot_bytes } };
    struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
    const ssize_t whole = (ssize_t)(sizeof head + client->welcome.slot_bytes);
    enum wb_status status = WB_OK;

    if (client->welcome.is_receiver == 0)
        return WB_ERR_INVAL;
    while (status == WB_OK && !client->over) {
        const ssize_t n = recvmsg(client->fd, &packet, MSG_DONTWAIT | MSG_TRUNC);
        if (n == whole && head.kind == CLIENT_MESSAGE) {
            if (is_new(client, head.number))
                return WB_OK;
        } else if (n > 0)
            status = over(client);
        else if (n == 0 || !is_later())
            status = attach_again(client, until_ms, none);
        else
            status = await(client, POLLIN, until_ms, none);
    }
    return client->over ? WB_ERR_GONE : status;
}
