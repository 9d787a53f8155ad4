// SPDX-License-Identifier: Apache-2.0
// What SIP goes over: UDP, TCP and TLS, and the names of DNS.
#ifndef VOIP_TRANSPORT_H
#define VOIP_TRANSPORT_H

#include "rtc.h"
#include "voip.h"

/// Listens by UDP and TCP at an address, and one port above by TLS if the server or the peer is
/// reached by that.
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno. A port that another has for TCP is only told.
int transport_open(struct sip *sip, const struct voip *voip, const struct sa *local);

/// Asks the servers of names that this machine knows; none leaves `*names` as it is.
///
/// Context: the agent. Never blocks.
void transport_names(struct dnsc **names);

/// Why a certificate was refused; "" where none was. `*cure` says what to do.
///
/// Context: the agent. Never blocks.
const char *transport_refusal(const char **cure);

#endif
