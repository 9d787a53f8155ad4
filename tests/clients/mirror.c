// SPDX-License-Identifier: Apache-2.0
// Receives at one port of a run and sends at another, by an event loop of its own.

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "whimbrel_client.h"

static int fail(const char *what, enum wb_status status)
{
    fprintf(stderr, "%s: %s\n", what, wb_status_text(status));
    return 1;
}

// Until the end of the stream. Each message goes on before the next is taken.
static enum wb_status pass(struct wb_client *in, struct wb_client *out, void *message)
{
    enum wb_status status;

    do {
        struct pollfd ready = { .fd = wb_client_fd(in), .events = POLLIN };
        poll(&ready, 1, -1);
        status = wb_client_receive(in, message, 0);
        if (status == WB_OK)
            status = wb_client_send(out, message, WB_CLIENT_FOREVER);
    } while (status == WB_OK || status == WB_ERR_EMPTY);
    return status;
}

// RUN
int main(int n, char **words)
{
    struct wb_client *in, *out;

    if (n != 2)
        return 2;
    enum wb_status status = wb_client_open(&in, words[1], "mirror", "in", 0, WB_CLIENT_FOREVER);
    if (status != WB_OK)
        return fail("in", status);
    status = wb_client_open(&out, words[1], "mirror", "out", 0, WB_CLIENT_FOREVER);
    if (status != WB_OK)
        return fail("out", status);
    void *message = malloc(wb_client_bytes(in));
    status = pass(in, out, message);
    if (status == WB_ERR_GONE)
        status = wb_client_end(out, WB_CLIENT_FOREVER);
    free(message);
    wb_client_close(in);
    wb_client_close(out);
    return status == WB_OK ? 0 : fail("mirror", status);
}
