// SPDX-License-Identifier: Apache-2.0
#include "link.h"

static const struct {
    uint16_t link;
    int16_t bytes;  // -1: the rules do not understand it
    const char *name;
} links[] = {
    { LINK_NULL, 4, "BSD loopback" },
    { LINK_ETHERNET, 14, "Ethernet" },
    { LINK_RAW_12, 0, "raw IP" },
    { LINK_RAW_14, 0, "raw IP" },
    { LINK_RAW, 0, "raw IP" },
    { LINK_LOOP, 4, "OpenBSD loopback" },
    { LINK_SLL, 16, "Linux cooked" },
    { LINK_IPV4, 0, "raw IPv4" },
    { LINK_IPV6, 0, "raw IPv6" },
    { LINK_SLL2, 20, "Linux cooked, version 2" },
    { 9, -1, "PPP" },
    { 105, -1, "IEEE 802.11" },
    { 127, -1, "IEEE 802.11 with radiotap" },
    { 187, -1, "Bluetooth" },
    { 195, -1, "IEEE 802.15.4" },
    { 201, -1, "Bluetooth" },
    { 220, -1, "USB" },
    { 227, -1, "CAN" },
    { 249, -1, "USB" },
};

int link_bytes(uint32_t link)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (links[i].link == link)
            return links[i].bytes;
    return -1;
}

const char *link_name(uint32_t link)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (links[i].link == link)
            return links[i].name;
    return "not known here";
}
