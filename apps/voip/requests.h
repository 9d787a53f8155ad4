// SPDX-License-Identifier: Apache-2.0
// What RFC 3261, 8.2 has inspected of each request before it is served, and what is said of it.
#ifndef VOIP_REQUESTS_H
#define VOIP_REQUESTS_H

#include "rtc.h"

/// The headers that say what the phone can.
#define REQUESTS_ABILITIES                                                                         \
    "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE\r\n"                                         \
    "Accept: application/sdp, multipart/mixed\r\n"

/// Answers a request that the phone cannot serve: by its method (405, 501), by an extension that it
/// requires (420), by its length (400) or by the kind of its body (415). Of another, the body is
/// the description in it from then on.
///
/// Context: the agent. Never blocks.
/// Returns: true when it is answered.
bool request_refuse(struct sip *sip, const struct sip_msg *message);

/// Makes the body of a message the description in it.
///
/// Context: the agent. Never blocks.
/// Returns: 0; EBADMSG where a part of the body is missing; EPROTONOSUPPORT where it has no
///          description.
int request_take_body(const struct sip_msg *message);

/// Answers without a body.
///
/// Context: the agent. Never blocks.
void request_answer(struct sip *sip, const struct sip_msg *message, uint16_t status,
                    const char *reason, const char *headers);

#endif
