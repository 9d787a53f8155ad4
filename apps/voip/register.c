// SPDX-License-Identifier: Apache-2.0
// RFC 3261, section 10, by the dialogs, requests and digests of libre. Its own client of
// registrations would wait for half a minute at least before it tries again, and asks a server
// without end that grants no time.
#include "register.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "line.h"
#include "transport.h"

enum {
    SLOW_MS = 4000,        // says so when there is no answer for so long
    FIRST_WAIT_MS = 1000,  // before the second try; it doubles
    MOST_DOUBLINGS = 6,    // 64 s
    MOST_WAIT_S = 3600,    // as a server may ask for
    PATIENCE_S = 32,       // for how long a phone that is to call tries to register at first
    NEVER_S = 4000000,     // libre would close a connection whose server does not answer pings
    TEXT_BYTES = 2 * SERVER_URI_BYTES,
};

struct registration {
    const struct voip *voip;
    struct sip *sip;
    register_first *first;  // NULL once it was called
    void *arg;
    struct sip_dialog *dialog;
    struct sip_auth *auth;
    struct sip_request *request;
    struct sip_keepalive *flow;  // says when the connection to the server closes
    struct sip_loopstate loops;
    struct sa server;  // that answered
    enum sip_transp transport;
    struct tmr next, slow, lapse, ping;
    uint32_t expires_s;  // that is asked for
    uint32_t failures;   // in a row
    uint64_t begun_ns;
    bool is_registered, was_registered, is_ending;
    char address[SERVER_URI_BYTES];
};

static void request(struct registration *it);

// ---- What is told, and when it is tried again ---------------------------------------------------

struct trouble {
    int status;  // of SIP, or an errno below 0
    const char *cause, *cure;
};

#define LOGIN_CURE "check user, login and password_file"
#define REACH_CURE "check that the server runs, and its address, port and transport in registrar"

static const struct trouble troubles[] = {
    { 401, "the server refuses the user or the password", LOGIN_CURE },
    { 407, "the server refuses the user or the password", LOGIN_CURE },
    { 403, "the server forbids it", "check user, domain and password_file" },
    { 404, "the server does not know the address", "check user and domain" },
    { 405, "the server takes no registrations", "leave out registrar, and give it as proxy" },
    { 423, "the server wants a longer time than was asked for", "raise expires_s" },
    { 501, "the server takes no registrations", "leave out registrar, and give it as proxy" },
    { 408, "the server did not find the registrar in time", REACH_CURE },
    { 500, "the server has an internal error", "look at the log of the server" },
    { 503, "the server is not available now", "wait, or look at the log of the server" },
    { -EACCES, "the server asks for a password",
      "write it into a file, and give that as password_file" },
    { -ENOSYS, "the server asks for a digest other than MD5", "allow MD5 there" },
    { -EBADMSG, "the server's challenge is damaged", "look at the log of the server" },
    { -ETIMEDOUT, "the server does not answer", REACH_CURE },
    { -ECONNREFUSED, "no server has that port", REACH_CURE },
    { -ECONNRESET, "the server closes the connection", REACH_CURE },
    { -EPROTO, "the server does not speak TLS there", REACH_CURE },
    { -EINVAL, "the server cannot be reached from the address in listen",
      "give listen an address of this machine in the server's network" },
    { -ENETUNREACH, "there is no way to the server", "check the network of this machine" },
    { -EHOSTUNREACH, "there is no way to the server", "check the network of this machine" },
    { -EDESTADDRREQ, "the server's name is not known", "check the name in registrar or proxy" },
    { -ENOENT, "the server's name is not known", "check the name in registrar or proxy" },
    { -EDQUOT, "the server grants no time", "look at the log of the server" },
};

static struct trouble trouble_of(int status)
{
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++)
        if (troubles[i].status == status)
            return troubles[i];
    return (struct trouble){ status,
                             status < 0     ? "the server cannot be asked"
                             : status < 400 ? "the server is elsewhere"
                                            : "the server refuses it",
                             status < 400 && status > 0
                                 ? "give the address that it names as registrar"
                                 : "look at the log of the server" };
}

// `detail`: what the server said of it.
static void tell(struct registration *it, int status, const char *detail)
{
    struct trouble trouble = trouble_of(status);
    const char *refusal, *cure;
    char text[TEXT_BYTES];

    refusal = transport_refusal(&cure);
    if (status == -EPROTO && *refusal != '\0') {
        trouble = (struct trouble){ status, "the server's certificate is refused", cure };
        detail = refusal;
    }
    snprintf(text, sizeof text, "%s%s%s", trouble.cause, *detail ? ": " : "", detail);
    line_say(it->is_registered ? "the registration is not renewed" : "not registered", text);
    line_say("help", trouble.cure);
}

// Those that another try may mend. A certificate stays what it is.
static bool may_pass(int status)
{
    const char *cure;

    if (status == -EPROTO && *transport_refusal(&cure) != '\0')
        return false;
    return (status < 0 && status != -EACCES && status != -ENOSYS && status != -EINVAL) ||
           status == 408 || status == 480 || (status >= 500 && status < 600 && status != 501);
}

static void call_first(struct registration *it, bool is_registered)
{
    register_first *first = it->first;

    it->first = NULL;
    if (first)
        first(is_registered, it->arg);
}

static void on_next_time(void *arg)
{
    request(arg);
}

static void on_slow_time(void *arg)
{
    struct registration *it = arg;

    line_say("no answer from the server so far", it->voip->server.registrar);
    line_say("help", REACH_CURE);
}

static void fail(struct registration *it, int status, const char *detail, uint32_t after_s)
{
    const uint64_t waited_ns = wb_now_ns() - it->begun_ns;
    const uint32_t doublings = it->failures < MOST_DOUBLINGS ? it->failures : MOST_DOUBLINGS;
    const uint32_t wait_ms = (FIRST_WAIT_MS / 100U << doublings) * (75U + rand_u16() % 51U);
    char text[TEXT_BYTES];

    tmr_cancel(&it->slow);
    if (it->is_ending) {
        it->is_ending = it->is_registered = false;
        return;
    }
    tell(it, status, detail);
    it->failures++;
    const bool is_late = *it->voip->peer && waited_ns > PATIENCE_S * UINT64_C(1000000000);
    if (!it->was_registered && (!may_pass(status) || is_late)) {
        call_first(it, false);
        return;
    }
    after_s = after_s < MOST_WAIT_S ? after_s : MOST_WAIT_S;
    const uint64_t next_ms = after_s > 0 ? after_s * UINT64_C(1000) : wait_ms;
    snprintf(text, sizeof text, "in %.1f s", (double)next_ms / 1e3);
    line_say("tries to register again", text);
    tmr_start(&it->next, next_ms, on_next_time, it);
}

// ---- A registration that is granted -------------------------------------------------------------

// Calls by the server do not arrive any more.
static void on_lapse(void *arg)
{
    struct registration *it = arg;

    it->is_registered = false;
    line_say("the registration has expired", it->address);
}

static void on_flow_closed(int error, void *arg)
{
    struct registration *it = arg;

    line_say("the connection to the server is closed", strerror(error));
    if (!it->request && !it->is_ending)
        tmr_start(&it->next, FIRST_WAIT_MS, on_next_time, it);
}

// Keeps the way through translators of addresses open (RFC 5626, section 4.4.1; over UDP, most
// servers pass over it).
static void on_ping_time(void *arg)
{
    struct registration *it = arg;
    struct mbuf *ping = mbuf_alloc(4);

    if (ping && mbuf_write_str(ping, "\r\n\r\n") == 0) {
        ping->pos = 0;
        (void)sip_send(it->sip, NULL, it->transport, &it->server, ping);
    }
    mem_deref(ping);
    tmr_start(&it->ping, it->voip->server.keepalive_s * UINT64_C(1000), on_ping_time, it);
}

struct grant {
    const struct registration *it;
    uint32_t seconds;
};

static bool find_grant(const struct sip_hdr *header, const struct sip_msg *message, void *arg)
{
    struct grant *grant = arg;
    struct sip_addr contact;
    struct pl expires;
    struct sa local;

    (void)message;
    if (sip_addr_decode(&contact, &header->val) != 0 ||
        sip_transp_laddr(grant->it->sip, &local, grant->it->transport, NULL) != 0 ||
        pl_strcmp(&contact.uri.user, grant->it->voip->user) != 0 ||
        contact.uri.port != sa_port(&local) ||
        msg_param_decode(&contact.params, "expires", &expires) != 0)
        return false;
    grant->seconds = pl_u32(&expires);
    return true;
}

static uint32_t granted(const struct registration *it, const struct sip_msg *message)
{
    struct grant grant = { it, it->expires_s };

    if (pl_isset(&message->expires))
        grant.seconds = pl_u32(&message->expires);
    (void)sip_msg_hdr_apply(message, true, SIP_HDR_CONTACT, find_grant, &grant);
    return grant.seconds < it->expires_s ? grant.seconds : it->expires_s;
}

static void take_grant(struct registration *it, const struct sip_msg *message)
{
    const uint32_t keepalive_s = it->voip->server.keepalive_s;
    char text[TEXT_BYTES];

    it->server = message->src;
    it->transport = message->tp;
    const uint32_t seconds = granted(it, message);
    if (seconds == 0) {
        fail(it, -EDQUOT, "", 0);
        return;
    }
    if (!it->is_registered || it->failures > 0) {
        snprintf(text, sizeof text, "%s, for %u s each time", it->address, (unsigned)seconds);
        line_say("registered as", text);
    }
    it->is_registered = it->was_registered = true;
    it->failures = 0;
    it->flow = mem_deref(it->flow);
    if (message->tp != SIP_TRANSP_UDP)
        (void)sip_keepalive_start(&it->flow, it->sip, message, NEVER_S, on_flow_closed, it);
    tmr_start(&it->next, seconds * UINT64_C(900), on_next_time, it);
    tmr_start(&it->lapse, seconds * UINT64_C(1000), on_lapse, it);
    if (keepalive_s > 0 && !tmr_isrunning(&it->ping))
        tmr_start(&it->ping, keepalive_s * UINT64_C(1000), on_ping_time, it);
    call_first(it, true);
}

// ---- Requests and answers -----------------------------------------------------------------------

// Whether the request is sent once more, with what the server asks for.
static bool ask_again(struct registration *it, const struct sip_msg *message, int *error)
{
    const struct sip_hdr *longer = sip_msg_hdr(message, SIP_HDR_MIN_EXPIRES);
    const bool is_challenge = message->scode == 401 || message->scode == 407;

    *error = 0;
    if (sip_request_loops(&it->loops, message->scode))
        return false;
    if (message->scode == 423 && longer && pl_u32(&longer->val) > it->expires_s && !it->is_ending) {
        it->expires_s = pl_u32(&longer->val);
        return true;
    }
    if (!is_challenge)
        return false;
    *error = sip_msg_hdr(message, SIP_HDR_WWW_AUTHENTICATE) ||
                     sip_msg_hdr(message, SIP_HDR_PROXY_AUTHENTICATE)
                 ? sip_auth_authenticate(it->auth, message)
                 : EBADMSG;
    return *error == 0;
}

static void send_request(struct registration *it);

static void on_response(int error, const struct sip_msg *message, void *arg)
{
    struct registration *it = arg;
    const struct sip_hdr *later = message ? sip_msg_hdr(message, SIP_HDR_RETRY_AFTER) : NULL;
    char said[SERVER_URI_BYTES];
    int reason = 0;

    if (error || !message) {
        fail(it, -(error ? error : ENODATA), "", 0);
        return;
    }
    if (message->scode < 200)
        return;
    tmr_cancel(&it->slow);
    if (message->scode < 300 && it->is_ending) {
        line_say("unregistered", it->address);
        it->is_ending = it->is_registered = false;
    } else if (message->scode < 300) {
        take_grant(it, message);
    } else if (ask_again(it, message, &reason)) {
        send_request(it);
    } else {
        // EAUTH: the server challenges the login that it was given.
        re_snprintf(said, sizeof said, "%u %r", message->scode, &message->reason);
        fail(it, reason && reason != EAUTH ? -reason : message->scode, said,
             later ? pl_u32(&later->val) : 0);
    }
}

static int write_contact(enum sip_transp transport, const struct sa *from, const struct sa *to,
                         struct mbuf *message, void *arg)
{
    const struct registration *it = arg;
    const unsigned seconds = it->is_ending ? 0 : it->expires_s;

    (void)to;
    return mbuf_printf(message, "Contact: <sip:%s@%J%s>;expires=%u\r\nExpires: %u\r\n",
                       it->voip->user, from, sip_transp_param(transport), seconds, seconds);
}

static void send_request(struct registration *it)
{
    const int error =
        sip_drequestf(&it->request, it->sip, true, "REGISTER", it->dialog, 0, it->auth,
                      write_contact, on_response, it, "Content-Length: 0\r\n\r\n");

    if (error)
        fail(it, -error, "", 0);
}

static void request(struct registration *it)
{
    if (it->request)
        return;
    sip_loopstate_reset(&it->loops);
    sip_auth_reset(it->auth);  // a server that was started anew does not know its old challenges
    if (!it->is_ending)
        tmr_start(&it->slow, SLOW_MS, on_slow_time, it);
    send_request(it);
}

// ---- Its life -----------------------------------------------------------------------------------

bool register_address(const struct voip_server *server, char uri[SERVER_URI_BYTES])
{
    struct pl all;
    struct uri registrar;

    pl_set_str(&all, *server->registrar ? server->registrar : server->proxy);
    if (*server->domain != '\0') {
        re_snprintf(uri, SERVER_URI_BYTES, "sip:%s@%s", server->user, server->domain);
        return true;
    }
    if (uri_decode(&registrar, &all) != 0)
        return false;
    re_snprintf(uri, SERVER_URI_BYTES, "sip:%s@%r", server->user, &registrar.host);
    return true;
}

static void give_back(void *arg)
{
    struct registration *it = arg;

    tmr_cancel(&it->next);
    tmr_cancel(&it->slow);
    tmr_cancel(&it->lapse);
    tmr_cancel(&it->ping);
    mem_deref(it->request);
    mem_deref(it->flow);
    mem_deref(it->dialog);
    mem_deref(it->auth);
}

int register_open(struct registration **opened, struct sip *sip, const struct voip *voip,
                  const char *route, register_first *first, void *arg)
{
    const struct voip_server *server = &voip->server;
    struct registration *it = mem_zalloc(sizeof *it, give_back);
    char uri[SERVER_URI_BYTES];

    if (!it)
        return ENOMEM;
    it->voip = voip;
    it->sip = sip;
    it->first = first;
    it->arg = arg;
    it->expires_s = server->expires_s;
    it->begun_ns = wb_now_ns();
    (void)register_address(server, it->address);
    snprintf(uri, sizeof uri, *server->domain ? "sip:%s" : "%s",
             *server->domain ? server->domain : server->registrar);
    // A server that is asked at its own address needs no route.
    int error = sip_dialog_alloc(&it->dialog, uri, it->address, NULL, it->address, &route,
                                 strcmp(route, uri) != 0);
    if (error == 0)
        error = sip_auth_alloc(&it->auth, server_login, (void *)server, false);
    if (error) {
        mem_deref(it);
        return error;
    }
    *opened = it;
    request(it);
    return 0;
}

void register_end(struct registration *it)
{
    if (!it || it->is_ending)
        return;
    tmr_cancel(&it->next);
    tmr_cancel(&it->slow);
    tmr_cancel(&it->lapse);
    tmr_cancel(&it->ping);
    it->is_ending = it->is_registered || it->request;  // the server may grant what is under way
    it->flow = mem_deref(it->flow);
    it->request = mem_deref(it->request);
    it->first = NULL;
    if (it->is_ending)
        request(it);
}

bool register_is_ending(const struct registration *it)
{
    return it && it->is_ending && it->was_registered;
}
