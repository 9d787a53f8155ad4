// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "server.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "rtc.h"

int server_login(char **user, char **password, const char *realm, void *arg)
{
    const struct voip_server *server = arg;

    (void)realm;
    if (server->password[0] == '\0')
        return EACCES;
    const int error = str_dup(user, server->login);
    return error ? error : str_dup(password, server->password);
}

// Whether a name is one of this machine's or network's, rather than one that DNS has records of SIP
// for (RFC 3263, section 4).
static bool is_host(const struct uri *uri)
{
    return uri->port > 0 || !pl_strchr(&uri->host, '.');
}

static bool resolve(const struct pl *name, char address[64])
{
    const struct addrinfo wanted = { .ai_family = AF_INET, .ai_socktype = SOCK_DGRAM };
    char host[SERVER_URI_BYTES];
    struct addrinfo *found = NULL;

    if (pl_strcpy(name, host, sizeof host) != 0 || getaddrinfo(host, NULL, &wanted, &found) != 0)
        return false;
    const bool is_told =
        getnameinfo(found->ai_addr, found->ai_addrlen, address, 64, NULL, 0, NI_NUMERICHOST) == 0;
    freeaddrinfo(found);
    return is_told;
}

void server_route(const struct voip_server *server, char route[SERVER_URI_BYTES])
{
    const char *text = *server->proxy ? server->proxy : server->registrar;
    struct pl all;
    struct uri uri;
    struct sa numeric;
    char address[64];

    snprintf(route, SERVER_URI_BYTES, "%s", text);
    pl_set_str(&all, text);
    if (*text == '\0' || uri_decode(&uri, &all) != 0 || sa_set(&numeric, &uri.host, 0) == 0 ||
        !is_host(&uri) || !resolve(&uri.host, address))
        return;
    if (uri.port > 0)
        re_snprintf(route, SERVER_URI_BYTES, "sip:%s:%u%r", address, uri.port, &uri.params);
    else
        re_snprintf(route, SERVER_URI_BYTES, "sip:%s%r", address, &uri.params);
}
