// SPDX-License-Identifier: Apache-2.0
// Prints the number in each message that it receives, and at the end why no more come. With a
// second word it waits in an event loop of its own.

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "whimbrel_client.h"

static enum wb_status receive(struct wb_client *scope, void *message, int polls)
{
    if (!polls)
        return wb_client_receive(scope, message, WB_CLIENT_FOREVER);
    enum wb_status status = wb_client_receive(scope, message, 0);
    while (status == WB_ERR_EMPTY) {
        struct pollfd ready = { .fd = wb_client_fd(scope), .events = POLLIN };
        poll(&ready, 1, -1);
        status = wb_client_receive(scope, message, 0);
    }
    return status;
}

// RUN [polls]
int main(int n, char **words)
{
    struct wb_client *scope;
    uint64_t number;

    if (n != 2 && n != 3)
        return 2;
    enum wb_status status = wb_client_open(&scope, words[1], "scope", "in", 0, WB_CLIENT_FOREVER);
    if (status != WB_OK) {
        printf("%s\n", wb_status_text(status));
        return 1;
    }
    const uint32_t bytes = wb_client_bytes(scope);
    char *message = malloc(bytes);
    while ((status = receive(scope, message, n == 3)) == WB_OK) {
        memcpy(&number, message, sizeof number);
        printf("%llu\n", (unsigned long long)number);
        fflush(stdout);
    }
    printf("%s\n", wb_status_text(status));
    free(message);
    const int grew = wb_client_bytes(scope) != bytes;
    wb_client_close(scope);
    return grew;
}
