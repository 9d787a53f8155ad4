// SPDX-License-Identifier: Apache-2.0
// Calls as a capture (pcap-savefile(5)): each datagram of SIP, RTP and RTCP, both ways, with the
// headers that it has on an Ethernet and the time at which the agent sent or got it.
//
// A packet is written at once, behind the last one: a phone that is killed leaves whole packets.
// SIP that goes through TCP or TLS is written as if it went by UDP, and what SRTP encrypts as it
// was before.
#ifndef VOIP_PCAP_H
#define VOIP_PCAP_H

#include "rtc.h"
#include "voip.h"

// A socket whose datagrams are written. It stays where it is while the socket is open.
struct pcap_tap {
    struct voip *voip;
    struct sa local;
};

/// Begins the file, which is there.
///
/// Context: wb_app_setup().
/// Returns: true; false with the reason in `errno`.
bool pcap_begin(struct voip *voip);

/// Writes what a socket sends and gets from now on.
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno.
int pcap_listen(struct pcap_tap *tap, struct voip *voip, struct udp_sock *socket);

/// Writes a message of SIP: libre's sip_trace_h, whose `arg` is the struct voip.
///
/// Context: the agent. Blocks as a file does.
void pcap_sip(bool is_sent, enum sip_transp by, const struct sa *from, const struct sa *to,
              const uint8_t *message, size_t bytes, void *voip);

#endif
