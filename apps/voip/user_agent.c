// SPDX-License-Identifier: Apache-2.0
// Libre does the transactions and dialogs. What it keeps is the process's own, so all of it is made
// and given back by one task.
#include "user_agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "line.h"
#include "pcap.h"
#include "requests.h"
#include "transport.h"

// Only dbg_init() is wanted of this header, which wants to know these.
#define DEBUG_MODULE "voip"
#define DEBUG_LEVEL 0
#include <re_dbg.h>

enum { HASH_SIZE = 32, TEXT_BYTES = USER_AGENT_TEXT_BYTES };

// ---- Refusals -----------------------------------------------------------------------------------

// What a caller is told of an error: a status, and of a description why it will not do (RFC 3261,
// 20.43).
static const struct refusal {
    int error;
    uint16_t status;
    const char *reason;
    unsigned warning;  // 0: none
    const char *why;
} refusals[] = {
    { ENOTSUP, 488, "Not Acceptable Here", 305, "no codec in common" },
    { EPROTOTYPE, 488, "Not Acceptable Here", 399, "no encryption in common" },
    { EAFNOSUPPORT, 488, "Not Acceptable Here", 300, "an address of another kind, IPv4 or IPv6" },
    { EDESTADDRREQ, 488, "Not Acceptable Here", 301, "the description has no address by numbers" },
    { EBADMSG, 400, "Bad Session Description", 0, NULL },
    { EBUSY, 486, "Busy Here", 0, NULL },
    { 0, 500, "Server Internal Error", 0, NULL },
};

static const struct refusal *refusal_of(int error)
{
    const struct refusal *refusal = refusals;

    while (refusal->error != 0 && refusal->error != error)
        refusal++;
    return refusal;
}

static void refuse(struct user_agent *agent, const struct sip_msg *message, const char *what,
                   int error)
{
    const struct refusal *refusal = refusal_of(error);
    char text[TEXT_BYTES], headers[2 * TEXT_BYTES];
    int n = re_snprintf(headers, sizeof headers, "%s", REQUESTS_ABILITIES);

    re_snprintf(text, sizeof text, refusal->why ? "%s (%s)" : "%s", refusal->reason, refusal->why);
    line_say(what, text);
    if (error == EPROTOTYPE)
        line_say("help", SDES_CURE);
    if (refusal->warning > 0 && n > 0)
        re_snprintf(headers + n, sizeof headers - (size_t)n, "Warning: %u %j \"%s\"\r\n",
                    refusal->warning, &agent->local, refusal->why);
    request_answer(agent->sip, message, refusal->status, refusal->reason, headers);
}

// ---- What libre tells of a session --------------------------------------------------------------

static void on_established(const struct sip_msg *message, void *arg)
{
    struct session *session = arg;

    (void)message;
    if (session->is_established || !session->media)
        return;
    session->is_established = true;
    session->agent->voip->tally.agent.calls++;
    line_say("in a call by", voip_codec(session->media->call)->name);
    media_start(session->media, session->number);
    if (session->agent->kind->on_established)
        session->agent->kind->on_established(session);
}

static void changed(struct session *session)
{
    if (session->agent->kind->on_changed)
        session->agent->kind->on_changed(session);
}

static int on_answer(const struct sip_msg *message, void *arg)
{
    struct session *session = arg;
    int error = session->media ? request_take_body(message) : EINVAL;

    if (error == 0)
        error = media_take(session->media, message->mb, false);
    if (error == 0)
        changed(session);
    else if (session->is_established)
        line_say("the other phone's change of the call is not possible", refusal_of(error)->why);
    return error;
}

// A call is offered anew in its midst, or is asked for our offer.
static int on_offer(struct mbuf **description, const struct sip_msg *message, void *arg)
{
    struct session *session = arg;
    const bool has_offer = mbuf_get_left(message->mb) > 0;

    if (!session->media)
        return EINVAL;
    const int error = has_offer ? media_take(session->media, message->mb, true) : 0;
    if (error)
        return error;
    changed(session);
    return media_describe(session->media, description, !has_offer);
}

static void on_close(int error, const struct sip_msg *message, void *arg)
{
    struct session *session = arg;

    session->agent->kind->on_close(session, error, message);
}

// ---- A session ----------------------------------------------------------------------------------

int session_call(struct session *session, const char *from, const char *route)
{
    struct user_agent *agent = session->agent;
    struct voip *voip = agent->voip;
    struct mbuf *description = NULL;
    int error = media_open(&session->media, voip, &agent->local);

    if (error == 0)
        error = media_describe(session->media, &description, true);
    if (error == 0)
        error = sipsess_connect(&session->sip, agent->calls, voip->peer, NULL, from, voip->user,
                                &route, *route != '\0', "application/sdp", description,
                                server_login, &voip->server, false, on_offer, on_answer, NULL,
                                on_established, NULL, NULL, on_close, session, REQUESTS_ABILITIES);
    mem_deref(description);
    session->number = ++agent->taken;
    return error;
}

int session_accept(struct session *session, const struct sip_msg *message, uint16_t status)
{
    struct user_agent *agent = session->agent;
    struct voip *voip = agent->voip;
    struct mbuf *description = NULL;
    int error = 0;

    if (status == 200)
        error = media_describe(session->media, &description, !session->media->has_offer);
    if (error == 0)
        error = sipsess_accept(&session->sip, agent->calls, message, status,
                               description ? "OK" : "Ringing", voip->user, "application/sdp",
                               description, server_login, &voip->server, false, on_offer, on_answer,
                               on_established, NULL, NULL, on_close, session,
                               description ? REQUESTS_ABILITIES : NULL);
    mem_deref(description);
    return error;
}

int session_answer(struct session *session)
{
    struct mbuf *description = NULL;
    int error = media_describe(session->media, &description, !session->media->has_offer);

    if (error == 0)
        error = sipsess_answer(session->sip, 200, "OK", description, REQUESTS_ABILITIES);
    mem_deref(description);
    return error;
}

void session_end(struct session *session)
{
    if (!session->media)
        return;
    if (!session->is_established)
        session->agent->voip->tally.agent.failed++;
    session->is_established = false;
    session->sip = mem_deref(session->sip);
    session->media = mem_deref(session->media);
}

// Maybe it was gone before it heard that its call is taken up.
bool session_is_silent(const struct session *session)
{
    const uint64_t most = session->agent->voip->silence_ms * UINT64_C(1000000);
    const struct media *media = session->media;

    // One that holds the call may be silent.
    return media && media->heard_ns > 0 && most > 0 &&
           (!session->is_established || media->direction == SDP_SENDRECV) &&
           wb_now_ns() > media->heard_ns + most;
}

// ---- Requests -----------------------------------------------------------------------------------

static struct session *session_of(const struct user_agent *agent, const struct sip_msg *message)
{
    for (uint32_t i = 0; i < agent->places; i++) {
        struct session *session = &agent->sessions[i];

        if (session->sip && sip_dialog_cmp(sipsess_dialog(session->sip), message))
            return session;
    }
    return NULL;
}

static struct session *free_session(const struct user_agent *agent)
{
    for (uint32_t i = 0; i < agent->places && !agent->is_leaving; i++)
        if (!agent->sessions[i].media)
            return &agent->sessions[i];
    return NULL;
}

static int take_offer(struct session *session, const struct sip_msg *message)
{
    int error = media_open(&session->media, session->agent->voip, &session->agent->local);

    if (error)
        return error;
    session->media->has_offer = mbuf_get_left(message->mb) > 0;
    if (session->media->has_offer)
        error = media_take(session->media, message->mb, true);
    if (error)
        session->media = mem_deref(session->media);
    return error;
}

static void on_call(const struct sip_msg *message, void *arg)
{
    struct user_agent *agent = arg;
    struct session *session = free_session(agent);
    int error = session ? take_offer(session, message) : EBUSY;

    if (error == 0) {
        session->number = ++agent->taken;
        error = agent->kind->on_call(session, message);
    }
    if (error)
        refuse(agent, message, "refuses a call", error);
}

// An offer without a transaction of three messages (RFC 3311).
static void on_update(struct user_agent *agent, const struct sip_msg *message)
{
    struct session *session = session_of(agent, message);
    struct sip_contact contact;
    struct mbuf *description = NULL;
    int error = 0;

    if (!session) {
        request_answer(agent->sip, message, 481, "Call Does Not Exist", "");
        return;
    }
    struct sip_dialog *dialog = sipsess_dialog(session->sip);
    if (!session->is_established || !sip_dialog_rseq_valid(dialog, message)) {
        request_answer(agent->sip, message, 500, "Server Internal Error", "Retry-After: 1\r\n");
        return;
    }
    if (mbuf_get_left(message->mb) > 0)
        error = on_offer(&description, message, session);
    if (error) {
        refuse(agent, message, "refuses a change of the call", error);
        return;
    }
    (void)sip_dialog_update(dialog, message);
    sip_contact_set(&contact, agent->voip->user, &message->dst, message->tp);
    (void)sip_treplyf(NULL, NULL, agent->sip, message, true, 200, "OK",
                      "%H"
                      "%sContent-Length: %zu\r\n\r\n%b",
                      sip_contact_print, &contact,
                      description ? "Content-Type: application/sdp\r\n" : "",
                      description ? mbuf_get_left(description) : (size_t)0,
                      description ? mbuf_buf(description) : NULL,
                      description ? mbuf_get_left(description) : (size_t)0);
    mem_deref(description);
}

// Says of an offer in a call why it will not do: libre would say that with the words of an errno.
static bool is_refused_anew(struct user_agent *agent, const struct sip_msg *message)
{
    const struct session *session = session_of(agent, message);

    if (!session || !session->is_established || mbuf_get_left(message->mb) == 0)
        return false;
    const int error = media_try(session->media, message->mb, true);
    if (error)
        refuse(agent, message, "refuses a change of the call", error);
    return error != 0;
}

// Sees each request before libre serves it.
static bool on_request(const struct sip_msg *message, void *arg)
{
    struct user_agent *agent = arg;
    const bool has_place =
        free_session(agent) || (!agent->is_leaving && session_of(agent, message));

    if (request_refuse(agent->sip, message))
        return true;
    if (pl_strcmp(&message->met, "INVITE") == 0)
        return is_refused_anew(agent, message);
    if (pl_strcmp(&message->met, "UPDATE") == 0)
        on_update(agent, message);
    else if (pl_strcmp(&message->met, "OPTIONS") == 0)
        request_answer(agent->sip, message, has_place ? 200 : 486, has_place ? "OK" : "Busy Here",
                       REQUESTS_ABILITIES);
    else
        return false;
    return true;
}

// What belongs to no call: an ACK that comes late, an answer.
static bool on_other(const struct sip_msg *message, void *arg)
{
    (void)message;
    (void)arg;
    return true;
}

// ---- All of it ----------------------------------------------------------------------------------

static int listen_at(struct user_agent *agent)
{
    transport_names(&agent->names);
    int error = sip_alloc(&agent->sip, agent->names, HASH_SIZE, HASH_SIZE, HASH_SIZE, "whimbrel",
                          NULL, agent->voip);
    if (error)
        return error;
    sip_set_trace_handler(agent->sip, pcap_sip);
    error = transport_open(agent->sip, agent->voip, &agent->local);
    if (error == 0)
        error = sip_listen(&agent->requests, agent->sip, true, on_request, agent);
    if (error == 0)
        error = sipsess_listen(&agent->calls, agent->sip, HASH_SIZE, on_call, agent);
    if (error == 0)
        error = sip_listen(&agent->others, agent->sip, true, on_other, agent);
    return error ? error : sip_listen(&agent->responses, agent->sip, false, on_other, agent);
}

static void fail(struct wb_task *self, const char *what, int error)
{
    const char *cure = error == EADDRINUSE
                           ? "set listen to another port, or end the program that has it"
                       : error == EADDRNOTAVAIL ? "set listen to an address of this machine"
                       : error == EACCES        ? "set listen to a port from 1024 on"
                                                : "set listen to ADDRESS:PORT of this machine";
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "%s: %s\nhelp: %s", what, strerror(error), cure);
    wb_task_fail(self, text);
}

void user_agent_open(struct wb_task *self, struct user_agent *agent,
                     const struct user_agent_kind *kind, struct session *sessions, uint32_t places)
{
    static const char what[] = "listen must be an address and a port of this machine";
    struct voip *voip = voip_of(self);
    char text[TEXT_BYTES], why[TEXT_BYTES / 2];

    *agent =
        (struct user_agent){ .kind = kind, .voip = voip, .sessions = sessions, .places = places };
    for (uint32_t i = 0; i < places; i++)
        sessions[i] = (struct session){ .agent = agent };
    dbg_init(DBG_EMERG, DBG_NONE);  // packets of others are not shown on the terminal
    int error = libre_init();
    if (error)
        fail(self, "libre is not available", error);
    // Libre would take a part of some addresses, and sound cannot be announced at none.
    if (address_check_listen(voip->listen, why, sizeof why)) {
        snprintf(text, sizeof text, "%s: %s", what, why);
        wb_task_fail(self, text);
    }
    error = sa_decode(&agent->local, voip->listen, strlen(voip->listen));
    if (error)
        fail(self, what, error);
    if (!turn_open(&agent->turn))
        fail(self, "libre's main loop is not available", errno);
    error = listen_at(agent);
    if (error)
        fail(self, "calls cannot be taken", error);
}

void user_agent_turn(struct user_agent *agent)
{
    if (!turn_take(&agent->turn))
        line_say("the loop of libre fails", strerror(errno));
}

void user_agent_close(struct user_agent *agent)
{
    agent->requests = mem_deref(agent->requests);
    agent->others = mem_deref(agent->others);
    agent->responses = mem_deref(agent->responses);
    agent->calls = mem_deref(agent->calls);
    agent->sip = mem_deref(agent->sip);
    agent->names = mem_deref(agent->names);
    turn_close(&agent->turn);
    libre_close();
}
