// SPDX-License-Identifier: Apache-2.0
// The protocol of rtl_tcp: the server says "RTL0" and two numbers, then sends samples; the client
// sends commands of a byte and a number.
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "source.h"

enum { HEADER_BYTES = 12, COMMAND_BYTES = 5, HOST_BYTES = 128, PORT_BYTES = 16 };
enum { SET_FREQUENCY = 1, SET_RATE = 2, SET_GAIN_MODE = 3, SET_GAIN = 4 };

static int refuse(int fd, char why[FM_WHY_BYTES], const char *address, const char *reason)
{
    snprintf(why, FM_WHY_BYTES, "input \"rtl_tcp://%.80s\" cannot be used: %s", address, reason);
    if (fd >= 0)
        close(fd);
    return -1;
}

// HOST, HOST:PORT, or [HOST]:PORT.
static bool split(const char *address, char host[HOST_BYTES], char port[PORT_BYTES])
{
    const bool is_bracketed = address[0] == '[';
    const char *begin = address + is_bracketed;
    const char *end = is_bracketed ? strchr(begin, ']') : begin + strcspn(begin, ":");

    if (!end || end == begin || end - begin >= HOST_BYTES)
        return false;
    snprintf(host, HOST_BYTES, "%.*s", (int)(end - begin), begin);
    end += is_bracketed;
    if (*end == ':' && (end[1] == '\0' || strspn(end + 1, "0123456789") != strlen(end + 1)))
        return false;
    return (*end == '\0' || *end == ':') &&
           snprintf(port, PORT_BYTES, "%s", *end == ':' ? end + 1 : "1234") < PORT_BYTES;
}

static bool is_ready(int fd, short events)
{
    struct pollfd one = { .fd = fd, .events = events };
    int n;

    do
        n = poll(&one, 1, FM_STALL_MS);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = ETIMEDOUT;
    return n > 0;
}

static int connect_to(const struct addrinfo *at)
{
    const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;
    socklen_t bytes = sizeof error;

    if (fd < 0)
        return -1;
    if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS && is_ready(fd, POLLOUT) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0)
        return fd;
    if (error != 0)
        errno = error;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static const char *read_header(int fd)
{
    static const char other[] =
        "it is not an rtl_tcp server: start `rtl_tcp`, or give the address of one";
    char header[HEADER_BYTES];
    size_t got = 0;

    while (got < sizeof header) {
        const ssize_t n = is_ready(fd, POLLIN) ? read(fd, header + got, sizeof header - got) : -1;

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0 && errno == ETIMEDOUT)
            return "it does not send the header of rtl_tcp: give the address of an rtl_tcp server";
        if (n <= 0)
            return "it closes the connection: rtl_tcp serves one client, end the other";
        got += (size_t)n;
        if (memcmp(header, "RTL0", got < 4 ? got : 4) != 0)
            return other;
    }
    return NULL;
}

static bool command(int fd, uint8_t what, double value)
{
    const uint32_t number = (uint32_t)lround(value);
    const uint8_t bytes[COMMAND_BYTES] = { what, (uint8_t)(number >> 24), (uint8_t)(number >> 16),
                                           (uint8_t)(number >> 8), (uint8_t)number };

    return send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) == sizeof bytes;
}

static bool tune(int fd, const struct fm_tuning *tuning)
{
    const bool is_manual = !isnan(tuning->gain_db);

    return command(fd, SET_RATE, tuning->rate) &&
           (tuning->centre_hz <= 0 || command(fd, SET_FREQUENCY, tuning->centre_hz)) &&
           command(fd, SET_GAIN_MODE, is_manual) &&
           (!is_manual || command(fd, SET_GAIN, 10 * tuning->gain_db));
}

int fm_rtl_tcp_open(const char *address, const struct fm_tuning *tuning, char why[FM_WHY_BYTES])
{
    const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
    char host[HOST_BYTES], port[PORT_BYTES];
    struct addrinfo *found;
    int fd = -1;

    if (!split(address, host, port))
        return refuse(-1, why, address, "give rtl_tcp://HOST:PORT");
    const int error = getaddrinfo(host, port, &wanted, &found);
    if (error != 0)
        return refuse(-1, why, address, gai_strerror(error));
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = connect_to(at);
    freeaddrinfo(found);
    if (fd < 0) {
        char reason[FM_WHY_BYTES / 2];

        snprintf(reason, sizeof reason, "%s: start `rtl_tcp -a %.40s -p %s` there", strerror(errno),
                 host, port);
        return refuse(fd, why, address, reason);
    }
    const char *reason = read_header(fd);
    if (reason)
        return refuse(fd, why, address, reason);
    return tune(fd, tuning) ? fd : refuse(fd, why, address, strerror(errno));
}
