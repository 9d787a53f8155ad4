// SPDX-License-Identifier: Apache-2.0
#include "address.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char form[] = "set peer to sip:NAME@ADDRESS:PORT";

static bool refuse(char *why, size_t bytes, const char *cause, const char *cure)
{
    snprintf(why, bytes, "%s\nhelp: %s", cause, cure);
    return true;
}

// Whether a text begins with a port, and has parameters behind it or nothing.
static bool is_port(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    unsigned port = 0;

    for (size_t i = 0; i < digits && port <= UINT16_MAX; i++)
        port = 10 * port + (unsigned)(text[i] - '0');
    return digits > 0 && port <= UINT16_MAX && strchr(";?>", text[digits]);
}

bool address_check_listen(const char *listen, char *why, size_t bytes)
{
    const char *port = strrchr(listen, ':');
    struct sa address;

    if (!port || !is_port(port + 1) || port[1 + strspn(port + 1, "0123456789")] != '\0')
        return refuse(why, bytes, "it has no port up to 65535",
                      "set listen to ADDRESS:PORT, for example 127.0.0.1:5060");
    if (sa_decode(&address, listen, strlen(listen)) == 0 && sa_is_any(&address))
        return refuse(why, bytes, "no phone can send to an address of zeros",
                      "set listen to the address by which the others reach this machine");
    return false;
}

bool address_check_peer(const char *peer, const struct sa *local, char *why, size_t bytes)
{
    struct pl text;
    struct uri uri;
    struct sa there;

    pl_set_str(&text, peer);
    if (uri_decode(&uri, &text) != 0 || uri.host.l == 0 || strpbrk(peer, " \t<>\"") ||
        (pl_strcasecmp(&uri.scheme, "sip") != 0 && pl_strcasecmp(&uri.scheme, "sips") != 0))
        return refuse(why, bytes, "it is not an address of SIP", form);
    const char *end = uri.host.p + uri.host.l;
    end += *end == ']';
    if (*end == ':' && !is_port(end + 1))
        return refuse(why, bytes, "it has no port up to 65535 behind its colon", form);
    return sa_set(&there, &uri.host, 0) == 0 && sa_af(&there) != sa_af(local) &&
           refuse(why, bytes, "it and listen are addresses of two kinds, IPv4 and IPv6",
                  "set both to one kind");
}

void address_explain_peer(const char *peer, int error, char *why, size_t bytes)
{
    struct pl text;
    struct uri uri;
    struct sa there;

    pl_set_str(&text, peer);
    const bool is_name = uri_decode(&uri, &text) == 0 && sa_set(&there, &uri.host, 0) != 0;
    if (error == EPROTONOSUPPORT)
        (void)refuse(why, bytes, "the phone has not the transport of its address", form);
    else if (is_name)
        (void)refuse(why, bytes, "its name is not found", "give its address by numbers");
    else if (error == EINVAL || error == ENETUNREACH || error == EHOSTUNREACH)
        (void)refuse(why, bytes, "it is not reached from the address in listen",
                     "set listen to an address of the network that the peer is in");
    else
        (void)refuse(why, bytes, strerror(error), form);
}
