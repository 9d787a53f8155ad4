// SPDX-License-Identifier: Apache-2.0
#include "phone.h"

#include <sys/socket.h>

#include "target.h"
#include "voip/line.h"

const char phone_description[] = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\n"
                                 "t=0 0\r\nm=audio 9 RTP/AVP 0 8 96\r\n"
                                 "a=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n"
                                 "a=rtpmap:96 opus/48000/2\r\n";

static struct voip state = { .format = { 8000, 160, 0, 24000 },
                             .ptime_ms = 20,
                             .jitter_frames = 2,
                             .peer = "",
                             .listen = "127.0.0.1:0",
                             .user = "whimbrel",
                             .server = { .registrar = "",
                                         .proxy = "",
                                         .domain = "",
                                         .user = "whimbrel",
                                         .login = "whimbrel",
                                         .ca = "" },
                             .order = { 0, 1, 2 },
                             .offered = 3,
                             .capture = { .fd = -1 } };
static uint64_t now_ns = 1;

struct voip *phone_state(void)
{
    static bool is_ready;

    if (!is_ready) {
        MUST(libre_init() == 0);
        is_ready = true;
    }
    return &state;
}

// ---- What it takes of the middleware and of its other files -------------------------------------

uint64_t wb_now_ns(void)
{
    return now_ns += 1000000;
}

struct voip *voip_of(const struct wb_task *self)
{
    (void)self;
    return &state;
}

void *task_keep(struct wb_task *self, size_t bytes)
{
    (void)self;
    return calloc(1, bytes);
}

_Noreturn void wb_task_fail(struct wb_task *self, const char *text)
{
    (void)self;
    (void)text;
    abort();
}

bool file_write_at(const struct file *file, const void *data, size_t bytes, uint64_t place)
{
    (void)data;
    (void)bytes;
    (void)place;
    MUST(file->fd < 0);
    return true;
}

void file_close(struct file *file)
{
    file->fd = -1;
}

void line_say(const char *what, const char *detail)
{
    MUST(what != NULL && detail != NULL);
}

// Whatever an input names, nothing is sent to it.
ssize_t sendto(int fd, const void *data, size_t bytes, int flags, const struct sockaddr *to,
               socklen_t n);
ssize_t sendto(int fd, const void *data, size_t bytes, int flags, const struct sockaddr *to,
               socklen_t n)
{
    (void)fd;
    (void)data;
    (void)flags;
    (void)to;
    (void)n;
    return (ssize_t)bytes;
}
