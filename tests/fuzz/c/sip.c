// SPDX-License-Identifier: Apache-2.0
// The phone that others send to: the packets that an input consists of, each up to a byte 0, come
// by its socket, and it takes as many turns. Then it hangs up.
#include "phone.h"
#include "target.h"
// Its state and its calls are static.
#include "voip/phone.c"

#include <arpa/inet.h>
#include <sys/socket.h>

enum { PACKETS_MOST = 8 };

static int sender = -1;
static struct line *line;

static void begin(void)
{
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sa address;

    line = line_sip(NULL);
    sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    MUST(bind(sender, (struct sockaddr *)&own, sizeof own) == 0);
    MUST(sip_transp_laddr(((struct phone *)line)->agent.sip, &address, SIP_TRANSP_UDP,
                          &((struct phone *)line)->agent.local) == 0);
    own.sin_port = htons(sa_port(&address));
    MUST(connect(sender, (struct sockaddr *)&own, sizeof own) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct phone *phone;
    const uint8_t *packet;
    char answer[4096];

    (void)phone_state();
    if (sender < 0)
        begin();
    phone = (struct phone *)line;
    for (int i = 0; i < PACKETS_MOST && bytes > 0; i++) {
        const size_t n = part(&data, &bytes, 0, &packet);
        (void)send(sender, packet, n, MSG_DONTWAIT);
        MUST(line->kind->turn(line));
    }
    if (phone->session.media != NULL && !phone->session.is_established)
        on_answer_time(phone);
    end_call(phone);
    phone->agent.is_leaving = false;
    (void)line->kind->turn(line);
    while (recv(sender, answer, sizeof answer, MSG_DONTWAIT) > 0)
        continue;
    return 0;
}
