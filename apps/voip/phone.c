// SPDX-License-Identifier: Apache-2.0
// A line by SIP: calls the peer, or takes calls, one at a time.
//
// Libre does the transactions and dialogs. What it keeps is the process's own, so all of it is made
// and given back by the agent.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "common/tasks.h"
#include "line.h"
#include "media.h"
#include "outcome.h"
#include "pcap.h"
#include "register.h"
#include "requests.h"
#include "transport.h"
#include "turn.h"

// Only dbg_init() is wanted of this header, which wants to know these.
#define DEBUG_MODULE "voip"
#define DEBUG_LEVEL 0
#include <re_dbg.h>

enum { HASH_SIZE = 32, LAST_WORDS_MS = 1000, UNREGISTER_MS = 3000, TEXT_BYTES = 256 };

struct phone {
    struct line line;
    struct voip *voip;
    struct turn turn;
    struct sa local;
    struct dnsc *names;
    struct sip *sip;
    struct registration *registration;  // NULL: none
    char route[SERVER_URI_BYTES];       // that calls go; "": straight
    struct sipsess_sock *calls;
    struct sip_lsnr *requests, *others, *responses;
    struct sipsess *session;  // of the call that is under way
    struct media *media;      // the same
    struct tmr answer, hang_up;
    uint32_t number;  // of calls so far
    uint64_t end_ns;  // when the line is given up, once nothing more is wanted
    bool is_ours;     // the call that is under way
    bool is_established, is_leaving, is_closed, is_refused;
};

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

// ---- The end of a call --------------------------------------------------------------------------

static void leave(struct phone *phone)
{
    if (!phone->is_leaving)
        phone->end_ns = wb_now_ns() + LAST_WORDS_MS * UINT64_C(1000000);
    phone->is_leaving = true;
    register_end(phone->registration);
}

// Giving the session back says BYE, CANCEL or a refusal to the other phone, if that is still to be
// done.
static void end_call(struct phone *phone)
{
    const struct voip *voip = phone->voip;

    if (!phone->media)
        return;
    tmr_cancel(&phone->answer);
    tmr_cancel(&phone->hang_up);
    // Release: pairs with the acquire of the sound.
    wb_word_store(&phone->voip->call, 0, WB_RELEASE);
    if (!phone->is_established)
        phone->voip->tally.agent.failed++;
    phone->is_established = false;
    phone->session = mem_deref(phone->session);
    phone->media = mem_deref(phone->media);
    if (*voip->peer || (voip->wanted_calls > 0 && phone->number >= voip->wanted_calls))
        leave(phone);
}

static void on_close(int error, const struct sip_msg *message, void *arg)
{
    struct phone *phone = arg;

    phone->line.cure = outcome_tell(phone->is_established ? OUTCOME_TALK
                                    : phone->is_ours      ? OUTCOME_CALLED
                                                          : OUTCOME_CALLER,
                                    error, message);
    end_call(phone);
}

static void on_hang_up_time(void *arg)
{
    line_say("hangs up", "");
    end_call(arg);
}

// ---- A call that is taken up --------------------------------------------------------------------

static void on_established(const struct sip_msg *message, void *arg)
{
    struct phone *phone = arg;

    (void)message;
    if (phone->is_established || !phone->media)
        return;
    phone->is_established = true;
    phone->voip->tally.agent.calls++;
    line_say("in a call by", voip_codec(phone->media->call)->name);
    media_start(phone->media, phone->number);
    if (phone->voip->hang_up_ms > 0)
        tmr_start(&phone->hang_up, phone->voip->hang_up_ms, on_hang_up_time, phone);
    // Release: pairs with the acquire of the sound.
    wb_word_store(&phone->voip->call, phone->media->call, WB_RELEASE);
}

// What was agreed on holds for the sound from now on.
static void publish(struct phone *phone)
{
    // Relaxed: the agent is the only one who writes it.
    const uint32_t call = wb_word_load(&phone->voip->call, WB_RELAXED);

    if (!phone->is_established || call == phone->media->call)
        return;
    line_say("the call continues by", voip_codec(phone->media->call)->name);
    // Release: pairs with the acquire of the sound.
    wb_word_store(&phone->voip->call, phone->media->call, WB_RELEASE);
}

static int on_answer(const struct sip_msg *message, void *arg)
{
    struct phone *phone = arg;
    int error = phone->media ? request_take_body(message) : EINVAL;

    if (error == 0)
        error = media_take(phone->media, message->mb, false);
    if (error == 0)
        publish(phone);
    else if (phone->is_established)
        line_say("the other phone's change of the call is not possible", refusal_of(error)->why);
    return error;
}

// A call is offered anew in its midst, or is asked for our offer.
static int on_offer(struct mbuf **description, const struct sip_msg *message, void *arg)
{
    struct phone *phone = arg;
    const bool has_offer = mbuf_get_left(message->mb) > 0;

    if (!phone->media)
        return EINVAL;
    const int error = has_offer ? media_take(phone->media, message->mb, true) : 0;
    if (error)
        return error;
    publish(phone);
    return media_describe(phone->media, description, !has_offer);
}

// ---- A call that comes --------------------------------------------------------------------------

static void on_answer_time(void *arg)
{
    struct phone *phone = arg;
    struct mbuf *description = NULL;

    phone->media->heard_ns = wb_now_ns();
    if (media_describe(phone->media, &description, !phone->media->has_offer) != 0 ||
        sipsess_answer(phone->session, 200, "OK", description, REQUESTS_ABILITIES) != 0)
        end_call(phone);
    mem_deref(description);
}

static int accept_call(struct phone *phone, const struct sip_msg *message)
{
    const uint32_t ring_ms = phone->voip->ring_ms;
    const int error =
        sipsess_accept(&phone->session, phone->calls, message, 180, "Ringing", phone->voip->user,
                       "application/sdp", NULL, server_login, &phone->voip->server, false, on_offer,
                       on_answer, on_established, NULL, NULL, on_close, phone, NULL);

    if (error == 0)
        tmr_start(&phone->answer, ring_ms, on_answer_time, phone);
    return error;
}

static int take_offer(struct phone *phone, const struct sip_msg *message)
{
    if (phone->media || phone->is_leaving)
        return EBUSY;
    int error = media_open(&phone->media, phone->voip, &phone->local);
    if (error)
        return error;
    phone->media->has_offer = mbuf_get_left(message->mb) > 0;
    if (phone->media->has_offer)
        error = media_take(phone->media, message->mb, true);
    if (error)
        phone->media = mem_deref(phone->media);
    return error;
}

static void refuse(struct phone *phone, const struct sip_msg *message, const char *what, int error)
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
                    refusal->warning, &phone->local, refusal->why);
    request_answer(phone->sip, message, refusal->status, refusal->reason, headers);
}

static void on_call(const struct sip_msg *message, void *arg)
{
    struct phone *phone = arg;
    int error = take_offer(phone, message);

    if (error == 0) {
        phone->number++;
        phone->is_ours = false;
        error = accept_call(phone, message);
        if (error)
            end_call(phone);
    }
    if (error)
        refuse(phone, message, "refuses a call", error);
}

// ---- A call to the peer -------------------------------------------------------------------------

static int call_peer(struct phone *phone)
{
    struct mbuf *description = NULL;
    const char *route = phone->route;
    char from[SERVER_URI_BYTES];

    if (!register_address(&phone->voip->server, from))
        re_snprintf(from, sizeof from, "sip:%s@%J", phone->voip->user, &phone->local);
    int error = media_open(&phone->media, phone->voip, &phone->local);
    if (error == 0)
        error = media_describe(phone->media, &description, true);
    if (error == 0)
        error = sipsess_connect(&phone->session, phone->calls, phone->voip->peer, NULL, from,
                                phone->voip->user, &route, *route != '\0', "application/sdp",
                                description, server_login, &phone->voip->server, false, on_offer,
                                on_answer, NULL, on_established, NULL, NULL, on_close, phone,
                                REQUESTS_ABILITIES);
    mem_deref(description);
    phone->number = 1;
    phone->is_ours = true;
    return error;
}

// Calls the peer once the server knows the phone. Without a registration there is nothing to do.
static void on_registered(bool is_registered, void *arg)
{
    struct phone *phone = arg;
    const int error = is_registered && *phone->voip->peer ? call_peer(phone) : 0;
    char why[TEXT_BYTES];

    phone->line.cure = "see above what the server said";
    if (error) {
        address_explain_peer(phone->voip->peer, error, why, sizeof why);
        line_say("the peer cannot be called", why);
    }
    phone->is_refused = error || !is_registered;
    if (phone->is_refused)
        leave(phone);
}

// ---- Requests -----------------------------------------------------------------------------------

static bool is_of_call(const struct phone *phone, const struct sip_msg *message)
{
    return phone->session && sip_dialog_cmp(sipsess_dialog(phone->session), message);
}

// An offer without a transaction of three messages (RFC 3311).
static void on_update(struct phone *phone, const struct sip_msg *message)
{
    struct sip_dialog *dialog = sipsess_dialog(phone->session);
    struct sip_contact contact;
    struct mbuf *description = NULL;
    int error = 0;

    if (!is_of_call(phone, message)) {
        request_answer(phone->sip, message, 481, "Call Does Not Exist", "");
        return;
    }
    if (!phone->is_established || !sip_dialog_rseq_valid(dialog, message)) {
        request_answer(phone->sip, message, 500, "Server Internal Error", "Retry-After: 1\r\n");
        return;
    }
    if (mbuf_get_left(message->mb) > 0)
        error = on_offer(&description, message, phone);
    if (error) {
        refuse(phone, message, "refuses a change of the call", error);
        return;
    }
    (void)sip_dialog_update(dialog, message);
    sip_contact_set(&contact, phone->voip->user, &message->dst, message->tp);
    (void)sip_treplyf(NULL, NULL, phone->sip, message, true, 200, "OK",
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
static bool is_refused_anew(struct phone *phone, const struct sip_msg *message)
{
    if (!is_of_call(phone, message) || !phone->is_established || mbuf_get_left(message->mb) == 0)
        return false;
    const int error = media_try(phone->media, message->mb, true);
    if (error)
        refuse(phone, message, "refuses a change of the call", error);
    return error != 0;
}

// Sees each request before libre serves it.
static bool on_request(const struct sip_msg *message, void *arg)
{
    struct phone *phone = arg;
    const bool is_busy = (phone->media && !is_of_call(phone, message)) || phone->is_leaving;

    if (request_refuse(phone->sip, message))
        return true;
    if (pl_strcmp(&message->met, "INVITE") == 0)
        return is_refused_anew(phone, message);
    if (pl_strcmp(&message->met, "UPDATE") == 0)
        on_update(phone, message);
    else if (pl_strcmp(&message->met, "OPTIONS") == 0)
        request_answer(phone->sip, message, is_busy ? 486 : 200, is_busy ? "Busy Here" : "OK",
                       REQUESTS_ABILITIES);
    else
        return false;
    return true;
}

// What belongs to no call: an ACK that comes late.
static bool on_other(const struct sip_msg *message, void *arg)
{
    (void)message;
    (void)arg;
    return true;
}

static bool on_response(const struct sip_msg *message, void *arg)
{
    (void)message;
    (void)arg;
    return true;
}

// ---- The line -----------------------------------------------------------------------------------

// A phone that has vanished sends no packets, and no BYE; maybe it was gone before it heard that
// its call is taken up.
static bool is_silent(const struct phone *phone)
{
    const uint64_t most = phone->voip->silence_ms * UINT64_C(1000000);

    // One that holds the call may be silent.
    return phone->media && phone->media->heard_ns > 0 && most > 0 &&
           (!phone->is_established || phone->media->direction == SDP_SENDRECV) &&
           wb_now_ns() > phone->media->heard_ns + most;
}

static bool turn(struct line *line)
{
    struct phone *phone = (struct phone *)line;

    if (!turn_take(&phone->turn))
        line_say("the loop of libre fails", strerror(errno));
    if (is_silent(phone)) {
        line_say("hangs up: nothing is heard from the other phone", "");
        end_call(phone);
    }
    const uint64_t more_ms = register_is_ending(phone->registration) ? UNREGISTER_MS : 0;
    return !phone->is_leaving ||
           (!phone->is_closed && wb_now_ns() < phone->end_ns + more_ms * UINT64_C(1000000));
}

static bool send_frame(struct line *line, const struct voip_packet *packet)
{
    struct phone *phone = (struct phone *)line;

    return phone->is_established && media_send(phone->media, packet);
}

static bool take_frame(struct line *line, struct voip_packet *packet)
{
    struct phone *phone = (struct phone *)line;

    return phone->is_established && media_next(phone->media, packet);
}

static void hang_up(struct line *line)
{
    struct phone *phone = (struct phone *)line;

    end_call(phone);
    leave(phone);
}

static bool close_line(struct line *line)
{
    struct phone *phone = (struct phone *)line;
    const struct voip *voip = phone->voip;

    end_call(phone);
    phone->registration = mem_deref(phone->registration);
    phone->requests = mem_deref(phone->requests);
    phone->others = mem_deref(phone->others);
    phone->responses = mem_deref(phone->responses);
    phone->calls = mem_deref(phone->calls);
    phone->sip = mem_deref(phone->sip);
    phone->names = mem_deref(phone->names);
    turn_close(&phone->turn);
    libre_close();
    return !phone->is_refused && (!*voip->peer || voip->tally.agent.calls > 0);
}

static int open_sip(struct phone *phone)
{
    transport_names(&phone->names);
    server_route(&phone->voip->server, phone->route);
    int error = sip_alloc(&phone->sip, phone->names, HASH_SIZE, HASH_SIZE, HASH_SIZE, "whimbrel",
                          NULL, phone->voip);

    if (error == 0)
        sip_set_trace_handler(phone->sip, pcap_sip);
    if (error == 0)
        error = transport_open(phone->sip, phone->voip, &phone->local);
    if (error == 0)
        error = sip_listen(&phone->requests, phone->sip, true, on_request, phone);
    if (error == 0)
        error = sipsess_listen(&phone->calls, phone->sip, HASH_SIZE, on_call, phone);
    if (error == 0)
        error = sip_listen(&phone->others, phone->sip, true, on_other, phone);
    if (error == 0)
        error = sip_listen(&phone->responses, phone->sip, false, on_response, phone);
    if (error == 0 && *phone->voip->server.registrar != '\0')
        error = register_open(&phone->registration, phone->sip, phone->voip, phone->route,
                              on_registered, phone);
    else if (error == 0 && *phone->voip->peer)
        error = call_peer(phone);
    return error;
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

static void fail_peer(struct wb_task *self, const char *why)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "the peer cannot be called: %s", why);
    wb_task_fail(self, text);
}

// Libre would take a part of some addresses, and sound cannot be announced at none.
static void take_addresses(struct wb_task *self, struct phone *phone)
{
    static const char what[] = "listen must be an address and a port of this machine";
    const char *listen = phone->voip->listen, *peer = phone->voip->peer;
    char text[TEXT_BYTES], why[TEXT_BYTES / 2];

    if (address_check_listen(listen, why, sizeof why)) {
        snprintf(text, sizeof text, "%s: %s", what, why);
        wb_task_fail(self, text);
    }
    const int error = sa_decode(&phone->local, listen, strlen(listen));
    if (error)
        fail(self, what, error);
    if (*peer && address_check_peer(peer, &phone->local, why, sizeof why))
        fail_peer(self, why);
}

struct line *line_sip(struct wb_task *self)
{
    static const struct line_kind kind = { turn, send_frame, take_frame, hang_up, close_line };
    struct phone *phone = task_keep(self, sizeof *phone);
    char why[TEXT_BYTES / 2];

    phone->voip = voip_of(self);
    dbg_init(DBG_EMERG, DBG_NONE);  // packets of others are not shown on the terminal
    int error = libre_init();
    if (error)
        fail(self, "libre is not available", error);
    take_addresses(self, phone);
    if (!turn_open(&phone->turn))
        fail(self, "libre's main loop is not available", errno);
    phone->line = (struct line){ &kind, phone->turn.loop, NULL };
    error = open_sip(phone);
    // The peer is called last.
    if (error && !phone->responses)
        fail(self, "calls cannot be taken", error);
    if (error) {
        address_explain_peer(phone->voip->peer, error, why, sizeof why);
        fail_peer(self, why);
    }
    line_say("listens at", phone->voip->listen);
    return &phone->line;
}
