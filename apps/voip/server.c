// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "server.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/tasks.h"
#include "rtc.h"
#include "wb/wb.h"

#define PASSWORD_VARIABLE "VOIP_PASSWORD"

// ---- The parameters -----------------------------------------------------------------------------

static bool is_transport(const struct pl *name)
{
    return pl_strcasecmp(name, "udp") == 0 || pl_strcasecmp(name, "tcp") == 0 ||
           pl_strcasecmp(name, "tls") == 0;
}

static bool check_uri(struct wb_app *app, const char *key, const char *text)
{
    struct uri uri;
    struct pl all, transport;
    const char *wrong = NULL;

    if (*text == '\0')
        return true;
    pl_set_str(&all, text);
    if (strlen(text) >= SERVER_URI_BYTES / 2)
        wrong = "it is too long";
    else if (strncmp(text, "sips:", 5) == 0)
        wrong = "write sip: and add ;transport=tls";
    else if (strpbrk(text, " \t\r\n<>\"") || uri_decode(&uri, &all) != 0 ||
             pl_strcasecmp(&uri.scheme, "sip") != 0)
        wrong = "write sip:ADDRESS:PORT, with ;transport=tcp or ;transport=tls behind it if needed";
    else if (pl_isset(&uri.user))
        wrong = "write sip:ADDRESS:PORT, and the part before the @ as user";
    else if (msg_param_decode(&uri.params, "transport", &transport) == 0 &&
             !is_transport(&transport))
        wrong = "its transport must be udp, tcp or tls";
    return !wrong || file_refuse(app, key, wrong);
}

static bool read_password(struct wb_app *app, struct voip_server *server)
{
    const char *path = wb_param_text(app, "password_file", "");
    const char *set = getenv(PASSWORD_VARIABLE);

    if (*path == '\0') {
        snprintf(server->password, sizeof server->password, "%s", set ? set : "");
        return true;
    }
    FILE *file = fopen(path, "r");
    if (!file)
        return file_refuse(app, "password_file", strerror(errno));
    const bool is_read = fgets(server->password, sizeof server->password, file);
    fclose(file);
    server->password[strcspn(server->password, "\r\n")] = '\0';
    return (is_read && server->password[0] != '\0') ||
           file_refuse(app, "password_file", "its first line must be the password");
}

bool server_read(struct wb_app *app, struct voip_server *server, const char *user)
{
    uint32_t verifies;

    server->registrar = wb_param_text(app, "registrar", "");
    server->proxy = wb_param_text(app, "proxy", "");
    server->domain = wb_param_text(app, "domain", "");
    server->ca = wb_param_text(app, "tls_ca", "");
    server->user = user;
    server->login = wb_param_text(app, "login", "");
    if (*server->login == '\0')
        server->login = user;
    if (!app_integer(app, "expires_s", 5, 86400, &server->expires_s) ||
        !app_integer(app, "keepalive_s", 0, 3600, &server->keepalive_s) ||
        !app_integer(app, "tls_verify", 0, 1, &verifies))
        return false;
    server->verifies = verifies;
    if (*server->registrar != '\0' && (*user == '\0' || strpbrk(user, "@:;<>\"\\ \t\r\n")))
        return file_refuse(app, "user", "write the part of the address before the @ alone");
    if (strlen(server->domain) >= SERVER_URI_BYTES / 2 || strpbrk(server->domain, "@;<>\" \t\r\n"))
        return file_refuse(app, "domain", "write the part of the address behind the @ alone");
    return check_uri(app, "registrar", server->registrar) &&
           check_uri(app, "proxy", server->proxy) && read_password(app, server);
}

// ---- For the agent ------------------------------------------------------------------------------

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
