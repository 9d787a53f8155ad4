// SPDX-License-Identifier: Apache-2.0
// How does a task wait for a socket and a channel together, and move while it waits?
//
//     make -C examples/socket &&
//         bin/whimbrel run examples/socket/app.toml --cores 0,1 --shuttle listener=1,0@50ms
//
// `wb_app_setup` opens the socket before there are kernels, so it is open in each of them. A socket
// that a task opens itself belongs to one kernel: such a task must not move.
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wb/wb.h"

enum { DATAGRAMS = 20 };

static int udp;
static struct sockaddr_in address = { .sin_family = AF_INET };
static socklen_t length = sizeof address;

enum wb_status wb_app_setup(struct wb_app *app)
{
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);  // port 0: the system chooses one
    udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (udp >= 0 && bind(udp, (struct sockaddr *)&address, sizeof address) == 0 &&
        getsockname(udp, (struct sockaddr *)&address, &length) == 0)
        return WB_OK;
    snprintf(app->error, sizeof app->error, "the socket cannot be opened: %s", strerror(errno));
    return WB_ERR_UNABLE;
}

// Stands for another program: it sends a datagram each 10 ms, and a message at its end.
int sender(struct wb_task *self)
{
    struct wb_port *end = wb_port_find(self, "end", 0, sizeof(uint32_t));
    uint32_t n;

    for (n = 0; n < DATAGRAMS; n++) {
        if (sendto(udp, &n, sizeof n, 0, (struct sockaddr *)&address, length) != sizeof n)
            return 1;
        wb_period_wait(self);
    }
    return wb_port_send(end, &n, WB_FOREVER) != WB_OK;
}

int listener(struct wb_task *self)
{
    struct wb_port *end = wb_port_find(self, "end", 0, sizeof(uint32_t));
    struct wb_wait set[] = { { .file = udp, .events = WB_FILE_READABLE }, { .port = end } };
    uint32_t n, datagrams = 0;

    // The first of the set comes first, so the end is seen after the last datagram.
    while (wb_wait(set, 2, WB_FOREVER) == 0)
        datagrams += read(udp, &n, sizeof n) == sizeof n;
    if (wb_port_receive(end, &n, 0) != WB_OK)
        return 1;
    dprintf(STDOUT_FILENO, "%u datagrams of %u, and %s\n", datagrams, n,
            wb_task_migrations(self) > 0 ? "the listener has moved" : "it did not move");
    return 0;
}
