// SPDX-License-Identifier: Apache-2.0
// How frames begin: the link types (tcpdump.org/linktypes.html) that the rules understand.
#ifndef PACKETS_LINK_H
#define PACKETS_LINK_H

#include <stddef.h>
#include <stdint.h>

enum link {
    LINK_NULL = 0,  // an address family, in the byte order of the machine
    LINK_ETHERNET = 1,
    LINK_RAW_12 = 12,  // raw IP, as most systems' DLT_RAW
    LINK_RAW_14 = 14,  // as OpenBSD's
    LINK_RAW = 101,
    LINK_LOOP = 108,  // an address family, big-endian
    LINK_SLL = 113,   // Linux cooked: what `-i any` captures
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_SLL2 = 276,
};

enum { LINKS_MAX = 10 };

/// How many bytes are before the network layer.
///
/// Context: any. Never blocks.
/// Returns: the bytes, or -1 where the rules do not understand this link type.
int link_bytes(uint32_t link);

/// What a link type is called.
///
/// Context: any. Never blocks.
const char *link_name(uint32_t link);

#endif
