// SPDX-License-Identifier: Apache-2.0
// The registration at a SIP server, by which calls to the user's address reach this phone.
#ifndef VOIP_REGISTER_H
#define VOIP_REGISTER_H

#include "rtc.h"
#include "voip.h"

struct registration;

/// Called once: with the first registration, or when there will be none.
///
/// Context: the agent.
typedef void register_first(bool is_registered, void *arg);

/// Registers, and does so again before it expires and whenever the server was away. The user is
/// told of each change. `route` is the URI that requests go to.
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno; `*registration` is given back by mem_deref().
int register_open(struct registration **registration, struct sip *sip, const struct voip *voip,
                  const char *route, register_first *first, void *arg);

/// Takes the registration off the server. Doing it twice is harmless, as is NULL.
///
/// Context: the agent. Never blocks: register_is_ending() says whether the server's answer is worth
///          waiting for.
void register_end(struct registration *registration);
bool register_is_ending(const struct registration *registration);

/// The address of the user, as `sip:USER@DOMAIN`.
///
/// Context: the agent. Never blocks.
/// Returns: false where there is no server, and no domain.
bool register_address(const struct voip_server *server, char uri[SERVER_URI_BYTES]);

#endif
