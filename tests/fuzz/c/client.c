// SPDX-License-Identifier: Apache-2.0
// A client of a run whose other end is not one: the welcome is what the input begins with, and each
// packet after it is as long as the byte before it says, in words of four bytes.
#define _GNU_SOURCE
#include "whimbrel_client.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "packet.h"
#include "target.h"

enum { PACKETS_MOST = 16, SLOT_MOST = 1 << 16, ANSWER_MS = 1000 };

static char folder[64];
static int listener;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *input;  // for the next client; NULL: it is turned away
static size_t input_bytes;

// What waits for nothing but time has waited.
int __wrap_poll(struct pollfd *all, nfds_t n, int timeout_ms);
int __real_poll(struct pollfd *all, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *all, nfds_t n, int timeout_ms)
{
    return n == 0 ? 0 : __real_poll(all, n, timeout_ms == 0 ? ANSWER_MS : timeout_ms);
}

static void answer(int fd)
{
    char hello[sizeof(struct client_hello)];
    size_t n = sizeof(struct client_welcome);

    if (recv(fd, hello, sizeof hello, 0) <= 0)
        return;
    pthread_mutex_lock(&lock);
    uint8_t *const own = input;
    size_t left = own != NULL ? input_bytes : 0;
    input = NULL;
    pthread_mutex_unlock(&lock);
    const uint8_t *at = own;
    for (int i = 0; i < PACKETS_MOST && left > 0; i++) {
        n = n < left ? n : left;
        if (send(fd, at, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            break;
        at += n;
        left -= n;
        if (left > 0) {
            n = *at++ * (size_t)4;
            left--;
        }
    }
    free(own);
}

static void *serve(void *nothing)
{
    for (;;) {
        const int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            return nothing;
        answer(fd);
        close(fd);
    }
}

static void begin(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    pthread_t thread;

    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/whimbrel-fuzz-XXXXXX", base != NULL ? base : "/tmp");
    MUST(mkdtemp(folder) != NULL);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/feed.client", folder);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    MUST(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    MUST(listen(listener, 1) == 0);
    MUST(pthread_create(&thread, NULL, serve, NULL) == 0);
}

static void end(void)
{
    char path[sizeof folder + 16];

    snprintf(path, sizeof path, "%s/feed.client", folder);
    unlink(path);
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct wb_client *client = NULL;

    if (folder[0] == '\0') {
        begin();
        atexit(end);
    }
    uint8_t *own = malloc(bytes + 1);
    MUST(own != NULL);
    memcpy(own, data, bytes);
    pthread_mutex_lock(&lock);
    free(input);
    input = own;
    input_bytes = bytes;
    pthread_mutex_unlock(&lock);
    if (wb_client_open(&client, folder, "feed", "out", 0, 0) != WB_OK)
        return 0;
    const uint32_t slot = wb_client_bytes(client);
    // Exactly as large as it says, so that what is written behind it is seen.
    void *message = slot <= SLOT_MOST ? calloc(1, slot > 0 ? slot : 1) : NULL;
    if (message != NULL) {
        for (int i = 0; i < PACKETS_MOST; i++)
            if (wb_client_receive(client, message, 0) < 0)
                break;
        (void)wb_client_send(client, message, 0);
        (void)wb_client_end(client, 0);
    }
    free(message);
    wb_client_close(client);
    return 0;
}
