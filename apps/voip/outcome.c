// SPDX-License-Identifier: Apache-2.0
#include "outcome.h"

#include <errno.h>
#include <string.h>

#include "line.h"
#include "sdes.h"

enum { TEXT_BYTES = 256 };

struct cause {
    int code;  // a status, or an errno
    const char *cause, *cure;
};

static const struct cause answers[] = {
    { 300, "the peer has several addresses", "set peer to one of them" },
    { 301, "the peer has moved, to no address that can be called", "set peer to its new address" },
    { 302, "the peer is elsewhere, at no address that can be called",
      "set peer to its new address" },
    { 305, "the peer is behind a proxy that cannot be called", "set peer to an address at it" },
    { 401, "the peer wants a user and a password that it knows",
      "set user, login and password_file to those of an account there" },
    { 403, "the peer forbids the call", "ask its owner to allow calls from this user" },
    { 404, "the peer does not exist there", "correct the name before the @ in peer" },
    { 407, "the proxy wants a user and a password that it knows",
      "set user, login and password_file to those of an account there" },
    { 408, "the peer did not answer in time", "start the other phone, or call again later" },
    { 410, "the peer is gone for good", "correct the name before the @ in peer" },
    { 415, "the peer does not take descriptions by SDP", "call a phone" },
    { 420, "the peer does not support an extension", "call without it" },
    { 480, "the peer is not available", "call again later, or register the other phone" },
    { 484, "the address is incomplete", "complete the name before the @ in peer" },
    { 486, "the peer is busy", "call again later" },
    { 487, "the call was cancelled", "call again" },
    { 488, "the peer does not accept the sound that is offered",
      "set codecs and rate to what the other phone supports" },
    { 503, "the peer is overloaded or down", "call again later" },
    { 600, "the peer is busy everywhere", "call again later" },
    { 603, "the peer declines the call", "call again later, if the other agrees" },
    { 604, "the peer does not exist anywhere", "correct the name before the @ in peer" },
    { 606, "the peer does not accept the sound that is offered",
      "set codecs and rate to what the other phone supports" },
};

static const struct cause errors[] = {
    { ETIMEDOUT, "nothing answers at the address of the peer",
      "start the other phone, and check the address and port in peer" },
    { ECONNREFUSED, "nothing listens at the address of the peer",
      "start the other phone, and check the address and port in peer" },
    { ENETUNREACH, "there is no route to the address of the peer",
      "set listen to an address of the network that the peer is in" },
    { EINVAL, "the address of the peer cannot be reached from the address of listen",
      "set listen to an address of the network that the peer is in" },
    { EDESTADDRREQ, "the name of the peer is not found",
      "correct the name behind the @ in peer, or give its address by numbers" },
    { EPROTO, "TLS with the peer fails", "set tls_ca to the authority of its certificate" },
    { EPROTOTYPE, "the peer answers with no encryption in common", SDES_CURE },
    { EBADMSG, "the peer answers with a damaged description", "correct the other phone" },
    { ENOTSUP, "the peer answers without a supported codec",
      "set codecs to what the other phone supports" },
    { EAFNOSUPPORT, "the peer answers with an address of another kind, IPv4 or IPv6",
      "set listen to an address of that kind" },
};

static const struct cause *find(const struct cause *causes, size_t n, int code)
{
    for (size_t i = 0; i < n; i++)
        if (causes[i].code == code)
            return &causes[i];
    return NULL;
}

static const char *tell_called(int error, const struct sip_msg *answer)
{
    // A call that was taken up, but by a description that will not do, has both.
    const bool is_refused = answer && answer->scode >= 300;
    const struct cause *known = is_refused
                                    ? find(answers, sizeof answers / sizeof *answers, answer->scode)
                                    : find(errors, sizeof errors / sizeof *errors, error);
    char text[TEXT_BYTES];

    if (!is_refused)
        re_snprintf(text, sizeof text, "%s", known ? known->cause : strerror(error));
    else if (known)
        re_snprintf(text, sizeof text, "%s: %u %r", known->cause, answer->scode, &answer->reason);
    else
        re_snprintf(text, sizeof text, "%u %r", answer->scode, &answer->reason);
    line_say("the call has failed", text);
    return known ? known->cure : "check the address in peer, and call again";
}

const char *outcome_tell(enum outcome_of call, int error, const struct sip_msg *answer)
{
    // Libre's word for a BYE and a CANCEL.
    const bool is_left = error == ECONNRESET && !answer;

    if (call == OUTCOME_CALLED)
        return tell_called(error, answer);
    if (is_left)
        line_say(call == OUTCOME_TALK ? "the other phone has hung up" : "the caller has given up",
                 "");
    else if (error == ETIMEDOUT)
        line_say("the call has ended: the other phone does not answer any more", "");
    else
        line_say("the call has ended", error ? strerror(error) : "");
    return NULL;
}
