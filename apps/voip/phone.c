// SPDX-License-Identifier: Apache-2.0
// A line by SIP: calls the peer, or takes calls, one at a time.
#include <stdio.h>

#include "address.h"
#include "common/tasks.h"
#include "line.h"
#include "outcome.h"
#include "register.h"
#include "user_agent.h"

enum { LAST_WORDS_MS = 1000, UNREGISTER_MS = 3000, TEXT_BYTES = USER_AGENT_TEXT_BYTES };

struct phone {
    struct line line;
    struct user_agent agent;
    struct session session;
    struct registration *registration;  // NULL: none
    char route[SERVER_URI_BYTES];       // that calls go; "": straight
    struct tmr answer, hang_up;
    uint64_t end_ns;  // when the line is given up, once nothing more is wanted
    bool is_ours;     // the call that is under way
    bool is_refused;
};

static struct phone *phone_of(struct session *session)
{
    return (struct phone *)((char *)session - offsetof(struct phone, session));
}

// ---- The end of a call --------------------------------------------------------------------------

static void leave(struct phone *phone)
{
    if (!phone->agent.is_leaving)
        phone->end_ns = wb_now_ns() + LAST_WORDS_MS * UINT64_C(1000000);
    phone->agent.is_leaving = true;
    register_end(phone->registration);
}

static void end_call(struct phone *phone)
{
    struct voip *voip = phone->agent.voip;

    if (!phone->session.media)
        return;
    tmr_cancel(&phone->answer);
    tmr_cancel(&phone->hang_up);
    // Release: pairs with the acquire of the sound.
    wb_word_store(&voip->call, 0, WB_RELEASE);
    session_end(&phone->session);
    if (*voip->peer || (voip->wanted_calls > 0 && phone->agent.taken >= voip->wanted_calls))
        leave(phone);
}

static void on_close(struct session *session, int error, const struct sip_msg *answer)
{
    struct phone *phone = phone_of(session);

    phone->line.cure = outcome_tell(session->is_established ? OUTCOME_TALK
                                    : phone->is_ours        ? OUTCOME_CALLED
                                                            : OUTCOME_CALLER,
                                    error, answer);
    end_call(phone);
}

static void on_hang_up_time(void *arg)
{
    line_say("hangs up", "");
    end_call(arg);
}

// ---- A call that is taken up --------------------------------------------------------------------

static void on_established(struct session *session)
{
    struct phone *phone = phone_of(session);
    struct voip *voip = phone->agent.voip;

    if (voip->hang_up_ms > 0)
        tmr_start(&phone->hang_up, voip->hang_up_ms, on_hang_up_time, phone);
    // Release: pairs with the acquire of the sound.
    wb_word_store(&voip->call, session->media->call, WB_RELEASE);
}

// What was agreed on holds for the sound from now on.
static void on_changed(struct session *session)
{
    struct voip *voip = session->agent->voip;
    // Relaxed: the agent is the only one who writes it.
    const uint32_t call = wb_word_load(&voip->call, WB_RELAXED);

    if (!session->is_established || call == session->media->call)
        return;
    line_say("the call continues by", voip_codec(session->media->call)->name);
    // Release: pairs with the acquire of the sound.
    wb_word_store(&voip->call, session->media->call, WB_RELEASE);
}

static void on_answer_time(void *arg)
{
    struct phone *phone = arg;

    phone->session.media->heard_ns = wb_now_ns();
    if (session_answer(&phone->session) != 0)
        end_call(phone);
}

static int on_call(struct session *session, const struct sip_msg *message)
{
    struct phone *phone = phone_of(session);
    const int error = session_accept(session, message, 180);

    phone->is_ours = false;
    if (error)
        end_call(phone);
    else
        tmr_start(&phone->answer, phone->agent.voip->ring_ms, on_answer_time, phone);
    return error;
}

// ---- A call to the peer -------------------------------------------------------------------------

static int call_peer(struct phone *phone)
{
    const struct voip *voip = phone->agent.voip;
    char from[SERVER_URI_BYTES];

    if (!register_address(&voip->server, from))
        re_snprintf(from, sizeof from, "sip:%s@%J", voip->user, &phone->agent.local);
    phone->is_ours = true;
    return session_call(&phone->session, from, phone->route);
}

// Calls the peer once the server knows the phone. Without a registration there is nothing to do.
static void on_registered(bool is_registered, void *arg)
{
    struct phone *phone = arg;
    const char *peer = phone->agent.voip->peer;
    const int error = is_registered && *peer ? call_peer(phone) : 0;
    char why[TEXT_BYTES];

    phone->line.cure = "see above what the server said";
    if (error) {
        address_explain_peer(peer, error, why, sizeof why);
        line_say("the peer cannot be called", why);
    }
    phone->is_refused = error || !is_registered;
    if (phone->is_refused)
        leave(phone);
}

// ---- The line -----------------------------------------------------------------------------------

// A phone that has vanished sends no packets, and no BYE.
static bool turn(struct line *line)
{
    struct phone *phone = (struct phone *)line;

    user_agent_turn(&phone->agent);
    if (session_is_silent(&phone->session)) {
        line_say("hangs up: nothing is heard from the other phone", "");
        end_call(phone);
    }
    const uint64_t more_ms = register_is_ending(phone->registration) ? UNREGISTER_MS : 0;
    return !phone->agent.is_leaving || wb_now_ns() < phone->end_ns + more_ms * UINT64_C(1000000);
}

static bool send_frame(struct line *line, const struct voip_packet *packet)
{
    const struct session *session = &((struct phone *)line)->session;

    return session->is_established && media_send(session->media, packet);
}

static bool take_frame(struct line *line, struct voip_packet *packet)
{
    const struct session *session = &((struct phone *)line)->session;

    return session->is_established && media_next(session->media, packet);
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
    const struct voip *voip = phone->agent.voip;

    end_call(phone);
    phone->registration = mem_deref(phone->registration);
    user_agent_close(&phone->agent);
    return !phone->is_refused && (!*voip->peer || voip->tally.agent.calls > 0);
}

static void fail_peer(struct wb_task *self, const char *why)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "the peer cannot be called: %s", why);
    wb_task_fail(self, text);
}

struct line *line_sip(struct wb_task *self)
{
    static const struct line_kind kind = { turn, send_frame, take_frame, hang_up, close_line };
    static const struct user_agent_kind sip = { on_call, on_established, on_changed, on_close };
    struct phone *phone = task_keep(self, sizeof *phone);
    struct user_agent *agent = &phone->agent;
    char why[TEXT_BYTES / 2];
    int error = 0;

    user_agent_open(self, agent, &sip, &phone->session, 1);
    const char *peer = agent->voip->peer;
    if (*peer && address_check_peer(peer, &agent->local, why, sizeof why))
        fail_peer(self, why);
    phone->line = (struct line){ &kind, agent->turn.loop, NULL };
    server_route(&agent->voip->server, phone->route);
    if (*agent->voip->server.registrar != '\0')
        error = register_open(&phone->registration, agent->sip, agent->voip, phone->route,
                              on_registered, phone);
    else if (*peer)
        error = call_peer(phone);
    if (error) {
        address_explain_peer(peer, error, why, sizeof why);
        fail_peer(self, why);
    }
    line_say("listens at", agent->voip->listen);
    return &phone->line;
}
