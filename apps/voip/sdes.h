// SPDX-License-Identifier: Apache-2.0
// The encryption of one call's sound: SRTP, by keys that the two phones tell each other in SDP
// (RFC 4568). Who reads SIP on its way reads the keys: use TLS for it.
#ifndef VOIP_SDES_H
#define VOIP_SDES_H

#include "rtc.h"
#include "voip.h"

struct sdes;

#define SDES_CURE "set srtp=offer, or turn on SRTP by SDES with AES_CM_128_HMAC_SHA1_80 there"

enum { SDES_KEY_BYTES = 48 };  // at most, with what base64 may have beyond

/// Draws keys, and has all packets of the sockets pass through. `*sdes` stays NULL in a run without
/// encryption.
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno; `*sdes` is given back by mem_deref(), after the sockets:
///          their last report is encrypted, too.
int sdes_open(struct sdes **sdes, struct voip *voip, struct rtp_sock *rtp);

/// The profile of what we offer.
///
/// Context: the agent. Never blocks.
const char *sdes_profile(const struct sdes *sdes);

/// Lets a line of sound have each profile that we can.
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno.
int sdes_widen(const struct sdes *sdes, struct sdp_media *audio);

/// Writes into a description what we offer, or have agreed on; NULL writes nothing.
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno.
int sdes_describe(const struct sdes *sdes, struct sdp_media *audio);

/// Whether the keys in a description that was taken in will do; sdes_take() also uses them.
///
/// Context: the agent. Never blocks.
/// Returns: 0; ENOMEM; EPROTOTYPE where one phone must encrypt and the other cannot.
int sdes_check(const struct sdes *sdes, const struct sdp_media *audio, bool is_offer);
int sdes_take(struct sdes *sdes, struct sdp_media *audio, bool is_offer);

/// Reads a line of keys, as they are in `a=crypto:`; sound that cannot be encrypted so is no error
/// of the line.
///
/// Context: any. Never blocks.
/// Returns: true where we can do what it says.
struct sdes_line {
    uint32_t tag, suite;
    uint8_t key[SDES_KEY_BYTES];
};
bool sdes_read(const char *text, struct sdes_line *line);

#endif
