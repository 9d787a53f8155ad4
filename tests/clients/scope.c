// SPDX-License-Identifier: Apache-2.0
// Prints the number in each message that it receives, and at the end why no more come.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "whimbrel_client.h"

// RUN
int main(int n, char **words)
{
    struct wb_client *scope;
    uint64_t number;

    if (n != 2)
        return 2;
    enum wb_status status = wb_client_open(&scope, words[1], "scope", "in", 0, 5000);
    if (status != WB_OK) {
        printf("%s\n", wb_status_text(status));
        return 1;
    }
    const uint32_t bytes = wb_client_bytes(scope);
    char *message = malloc(bytes);
    while ((status = wb_client_receive(scope, message, WB_CLIENT_FOREVER)) == WB_OK) {
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
