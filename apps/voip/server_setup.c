// SPDX-License-Identifier: Apache-2.0
// The parameters of the SIP server.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/tasks.h"
#include "rtc.h"
#include "server.h"

#define PASSWORD_VARIABLE "VOIP_PASSWORD"

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
