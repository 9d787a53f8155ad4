// SPDX-License-Identifier: Apache-2.0
// A user agent of SIP (RFC 3261, 6) with a number of sessions: what phone and bridge have in
// common.
#ifndef VOIP_USER_AGENT_H
#define VOIP_USER_AGENT_H

#include "media.h"
#include "rtc.h"
#include "turn.h"
#include "voip.h"

enum { USER_AGENT_TEXT_BYTES = 256 };

// A call, from its offer on.
struct session {
    struct user_agent *agent;
    struct sipsess *sip;
    struct media *media;  // NULL: there is no call
    uint32_t number;      // of the agent's calls
    bool is_established;
};

struct user_agent_kind {
    /// A call has come whose offer was taken in: session_accept() takes it up.
    ///
    /// Returns: 0, or an errno that it is refused for, once the session has ended.
    int (*on_call)(struct session *session, const struct sip_msg *message);

    /// NULL: nothing is to be done.
    void (*on_established)(struct session *session);

    /// Another codec, address or direction holds from now on. NULL: nothing is to be done.
    void (*on_changed)(struct session *session);

    /// The call has ended, by libre's `error` or the other's answer: session_end() is to be called.
    void (*on_close)(struct session *session, int error, const struct sip_msg *answer);
};

struct user_agent {
    const struct user_agent_kind *kind;
    struct voip *voip;
    struct session *sessions;
    uint32_t places;  // of sessions
    uint32_t taken;   // calls so far
    bool is_leaving;  // takes no other call
    struct turn turn;
    struct sa local;
    struct dnsc *names;
    struct sip *sip;
    struct sipsess_sock *calls;
    struct sip_lsnr *requests, *others, *responses;
};

/// Opens libre and its sockets, at the address of the run.
///
/// Context: the agent. Ends the run where that fails.
void user_agent_open(struct wb_task *self, struct user_agent *agent,
                     const struct user_agent_kind *kind, struct session *sessions, uint32_t places);

/// Context: the agent, once its sessions have ended.
void user_agent_close(struct user_agent *agent);

/// Handles all that has come and all timers that are due.
///
/// Context: the agent. Never blocks.
void user_agent_turn(struct user_agent *agent);

/// Calls the peer of the run, as `from`, by way of a server ("": straight).
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno.
int session_call(struct session *session, const char *from, const char *route);

/// Answers a call that has come: with 180 it rings, and session_answer() takes it up; with 200 it
/// is taken up.
///
/// Context: user_agent_kind.on_call(). Never blocks.
/// Returns: 0, or an errno.
int session_accept(struct session *session, const struct sip_msg *message, uint16_t status);
int session_answer(struct session *session);

/// Ends a call, with BYE, CANCEL or a refusal if that is still to be sent. Doing it twice is
/// harmless.
///
/// Context: the agent. Never blocks.
void session_end(struct session *session);

/// Whether the other has vanished: its packets are missing for as long as the run allows, although
/// it does not hold the call.
///
/// Context: the agent. Never blocks.
bool session_is_silent(const struct session *session);

#endif
