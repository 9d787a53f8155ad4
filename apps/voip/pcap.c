// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "pcap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "line.h"

// Times are in nanoseconds. The order of its bytes is that of all numbers.
#define MAGIC_NS 0xa1b23c4dU

enum {
    SNAPSHOT = 262144,
    ETHERNET = 1,
    ETHERNET_BYTES = 14,
    TYPE_IPV4 = 0x0800,
    TYPE_IPV6 = 0x86dd,
    IPV4_BYTES = 20,
    IPV6_BYTES = 40,
    UDP_BYTES = 8,
    DONT_FRAGMENT = 0x4000,
    HOPS = 64,
    MOST_BYTES = UINT16_MAX - IPV4_BYTES - UDP_BYTES,  // of a datagram
    LAYER = 100,  // of libre's helpers of a socket: nearer to the phone than one that encrypts
};

struct file_head {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t zone, accuracy, snapshot, link;
};

struct record_head {
    uint32_t seconds, fraction, bytes, original;
};

// ---- The headers of a datagram ------------------------------------------------------------------

static void put16(struct mbuf *packet, size_t value)
{
    (void)mbuf_write_u16(packet, htons((uint16_t)value));
}

static uint32_t sum(const uint8_t *bytes, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
    return sum;
}

static uint16_t checksum(uint32_t sum)
{
    while (sum > UINT16_MAX)
        sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint16_t)~sum;
}

static void put_address(struct mbuf *packet, const struct sa *address)
{
    uint8_t six[16];

    if (sa_af(address) == AF_INET) {
        (void)mbuf_write_u32(packet, htonl(sa_in(address)));
    } else {
        sa_in6(address, six);
        (void)mbuf_write_mem(packet, six, sizeof six);
    }
}

// Returns the sum of the addresses, which UDP's checksum is of, too.
static uint32_t put_ip(struct mbuf *packet, const struct sa *from, const struct sa *to,
                       size_t datagram)
{
    const bool is_four = sa_af(from) == AF_INET;
    const size_t start = packet->pos, head = is_four ? IPV4_BYTES : IPV6_BYTES;
    const size_t address = is_four ? 4 : 16;

    put16(packet, is_four ? 0x4500 : 0x6000);  // the version; IPv4: the length of its header
    put16(packet, is_four ? head + datagram : 0);
    put16(packet, is_four ? 0 : datagram);
    put16(packet, is_four ? DONT_FRAGMENT : IPPROTO_UDP << 8 | HOPS);
    if (is_four) {
        put16(packet, HOPS << 8 | IPPROTO_UDP);
        put16(packet, 0);
    }
    put_address(packet, from);
    put_address(packet, to);
    if (is_four) {
        packet->pos = start + 10;
        put16(packet, checksum(sum(packet->buf + start, head)));
        packet->pos = start + head;
    }
    return sum(packet->buf + start + head - 2 * address, 2 * address);
}

static void put_udp(struct mbuf *packet, const struct sa *from, const struct sa *to,
                    const uint8_t *payload, size_t bytes, uint32_t addresses)
{
    const size_t start = packet->pos, length = UDP_BYTES + bytes;

    put16(packet, sa_port(from));
    put16(packet, sa_port(to));
    put16(packet, length);
    put16(packet, 0);
    (void)mbuf_write_mem(packet, payload, bytes);
    const uint16_t right =
        checksum(addresses + IPPROTO_UDP + (uint32_t)length + sum(packet->buf + start, length));
    packet->pos = start + 6;
    put16(packet, right > 0 ? right : UINT16_MAX);  // 0 is none
    packet->pos = packet->end;
}

// ---- The file -----------------------------------------------------------------------------------

bool pcap_begin(struct voip *voip)
{
    const struct file_head head = {
        .magic = MAGIC_NS, .major = 2, .minor = 4, .snapshot = SNAPSHOT, .link = ETHERNET
    };

    voip->capture.bytes = sizeof head;
    return file_write_at(&voip->capture, &head, sizeof head, 0);
}

static void append(struct voip *voip, const struct mbuf *packet)
{
    if (file_write_at(&voip->capture, packet->buf, packet->end, voip->capture.bytes)) {
        voip->capture.bytes += packet->end;
        return;
    }
    line_say("the capture ends here", strerror(errno));
    // Where that fails, readers stop at the last whole packet.
    if (ftruncate(voip->capture.fd, (off_t)voip->capture.bytes) != 0)
        line_say("the capture ends in a part of a packet", strerror(errno));
    file_close(&voip->capture);
}

static void write_packet(struct voip *voip, const struct sa *from, const struct sa *to,
                         const uint8_t *payload, size_t bytes)
{
    const bool is_four = sa_af(from) == AF_INET;
    const size_t datagram = UDP_BYTES + bytes;
    const size_t frame = datagram + ETHERNET_BYTES + (is_four ? IPV4_BYTES : IPV6_BYTES);
    struct mbuf *packet = mbuf_alloc(sizeof(struct record_head) + frame);
    struct record_head head = { .bytes = (uint32_t)frame, .original = (uint32_t)frame };
    struct timespec now;

    if (!packet)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    head.seconds = (uint32_t)now.tv_sec;
    head.fraction = (uint32_t)now.tv_nsec;
    (void)mbuf_write_mem(packet, (const uint8_t *)&head, sizeof head);
    (void)mbuf_fill(packet, 0, 12);  // addresses of Ethernet, as a loopback device has them
    put16(packet, is_four ? TYPE_IPV4 : TYPE_IPV6);
    put_udp(packet, from, to, payload, bytes, put_ip(packet, from, to, datagram));
    append(voip, packet);
    mem_deref(packet);
}

void pcap_sip(bool is_sent, enum sip_transp by, const struct sa *from, const struct sa *to,
              const uint8_t *message, size_t bytes, void *voip)
{
    (void)is_sent;
    (void)by;
    if (((struct voip *)voip)->capture.fd >= 0 && bytes <= MOST_BYTES && sa_af(from) == sa_af(to))
        write_packet(voip, from, to, message, bytes);
}

static bool on_sent(int *error, struct sa *to, struct mbuf *datagram, void *arg)
{
    const struct pcap_tap *tap = arg;

    (void)error;
    pcap_sip(true, SIP_TRANSP_UDP, &tap->local, to, mbuf_buf(datagram), mbuf_get_left(datagram),
             tap->voip);
    return false;
}

static bool on_received(struct sa *from, struct mbuf *datagram, void *arg)
{
    const struct pcap_tap *tap = arg;

    pcap_sip(false, SIP_TRANSP_UDP, from, &tap->local, mbuf_buf(datagram), mbuf_get_left(datagram),
             tap->voip);
    return false;
}

int pcap_listen(struct pcap_tap *tap, struct voip *voip, struct udp_sock *socket)
{
    int error = udp_local_get(socket, &tap->local);

    tap->voip = voip;
    if (error == 0 && voip->capture.fd >= 0)
        error = udp_register_helper(NULL, socket, LAYER, on_sent, on_received, tap);
    return error;
}
