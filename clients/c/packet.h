// SPDX-License-Identifier: Apache-2.0
// What a client and a run say to each other: packets of a SOCK_SEQPACKET socket, a connection for
// each port. The task NAME of a run has its socket at NAME.client in the run's folder; where there
// are several of a name, at NAME.INDEX.client.
//
//     client                       run
//     hello                   ->
//                             <-   welcome
//     head, message           ->            to a port that the client sends to
//                             <-   head, message     from one that it receives from
//
// Each packet after the welcome begins with a head. A kernel that is killed between sending a
// message and giving its slot back leaves a message that comes again to the next connection. So
// the run numbers its messages: two with one number, one after the other, are one message.
//
// Numbers are the machine's own: both ends run on it.
#ifndef WB_CLIENT_PACKET_H
#define WB_CLIENT_PACKET_H

#include <stdint.h>

enum { CLIENT_VERSION = 2, CLIENT_NAME_BYTES = 32 };

enum client_kind {
    CLIENT_MESSAGE,  // the message follows, as long as the welcome said
    CLIENT_END,      // nothing comes after it: the port is closed
    CLIENT_REFUSED,  // the run closes the connection: what it got makes no sense
};

struct client_head {
    uint32_t kind;
    uint32_t number;  // of the run's message: another one than that of the message before it; a
                      // client's packets have 0
};

struct client_hello {
    uint32_t version, index;
    char port[CLIENT_NAME_BYTES];  // with its zero
};

struct client_welcome {
    int32_t status;        // enum wb_status: WB_OK; else the run closes the connection
    uint32_t slot_bytes;   // of a message
    uint32_t is_receiver;  // 1: the client receives; 0: it sends
    uint32_t run;          // drawn when the run began: another run of its name has another one
};

/// The size of a socket's buffer for two packets with messages of this size; the most that there is
/// for larger ones. Context: any. Never blocks.
static inline int client_buffer_bytes(uint32_t slot_bytes)
{
    const uint64_t bytes = 2 * (slot_bytes + (uint64_t)sizeof(struct client_head));

    return bytes < INT32_MAX ? (int)bytes : INT32_MAX;
}

#endif
