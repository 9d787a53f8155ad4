// SPDX-License-Identifier: Apache-2.0
// The SIP server of a run: its settings, and the login that the phone answers its challenges with.
#ifndef VOIP_SERVER_H
#define VOIP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct wb_app;

enum { SERVER_URI_BYTES = 256, SERVER_PASSWORD_BYTES = 128 };

struct voip_server {
    const char *registrar, *proxy, *domain;  // "": none
    const char *user, *login;                // of the phone's address; of its digest
    const char *ca;                          // a file of certificates; "": those of the system
    char password[SERVER_PASSWORD_BYTES];    // "": none
    uint32_t expires_s, keepalive_s;
    bool verifies;
};

/// Reads the parameters of the server, and the password from its file or from the environment.
///
/// Context: wb_app_setup().
/// Returns: true; false with the reason in `app->error`.
bool server_read(struct wb_app *app, struct voip_server *server, const char *user);

/// Gives libre the login, as a sip_auth_h whose argument is a struct voip_server.
///
/// Context: the agent. Never blocks.
/// Returns: 0; ENOMEM; EACCES where there is no password.
int server_login(char **user, char **password, const char *realm, void *server);

/// The URI that requests are sent to: the proxy, else the registrar; "" without either. A name that
/// has no records of SIP in DNS, because it comes with a port or without a domain, becomes an
/// address.
///
/// Context: the agent. Blocks as a look-up of a name does.
void server_route(const struct voip_server *server, char route[SERVER_URI_BYTES]);

#endif
