// SPDX-License-Identifier: Apache-2.0
// A bridge: takes calls, up to VOIP_PARTIES at a time, and lets each party hear all others.
//
// In each period it has what is due of every party mixed, by one call of the mixer that it does not
// wait for, and sends each its own mix. Like the agent it does not move: its sockets are of its
// process.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/tasks.h"
#include "line.h"
#include "media.h"
#include "turn.h"

// Only dbg_init() is wanted of this header, which wants to know these.
#define DEBUG_MODULE "bridge"
#define DEBUG_LEVEL 0
#include <re_dbg.h>

enum { HASH_SIZE = 32, LAST_WORDS_MS = 1000, TEXT_BYTES = 256 };

struct party {
    struct bridge *bridge;
    struct sipsess *session;
    struct media *media;  // NULL: nobody
    bool is_established;
};

struct bridge {
    struct voip *voip;
    struct voip_agent_tally *tally;
    struct turn turn;
    struct sa local;
    struct sip *sip;
    struct sipsess_sock *calls;
    struct party parties[VOIP_PARTIES];
    struct wb_caller mix;
    struct voip_mix sent;
    uint32_t made_us[WB_CALLS_MAX];  // when a mix was asked for, by the number of the call
    uint32_t number, asked;          // of periods, and of mixes
    uint32_t taken, ended;           // calls
    uint64_t period_ns, turn_ns;     // when the next of each is due
    uint64_t sent_ns;                // when the last mix was sent; 0: none since there was nobody
    uint64_t end_ns;                 // when the bridge is given up; 0: not yet
};

static uint32_t now_us(void)
{
    return (uint32_t)(wb_now_ns() / 1000);
}

// ---- The end of a call --------------------------------------------------------------------------

static void leave(struct bridge *bridge)
{
    if (bridge->end_ns == 0)
        bridge->end_ns = wb_now_ns() + LAST_WORDS_MS * UINT64_C(1000000);
}

// Giving the session back says BYE or a refusal, if that is still to be done.
static void end_call(struct party *party)
{
    struct bridge *bridge = party->bridge;
    const uint32_t wanted = bridge->voip->wanted_calls;

    if (!party->media)
        return;
    if (!party->is_established)
        bridge->tally->failed++;
    party->is_established = false;
    party->session = mem_deref(party->session);
    party->media = mem_deref(party->media);
    bridge->ended++;
    if (wanted > 0 && bridge->ended >= wanted)
        leave(bridge);
}

static void end_all(struct bridge *bridge)
{
    for (int i = 0; i < VOIP_PARTIES; i++)
        end_call(&bridge->parties[i]);
    leave(bridge);
}

static void on_close(int error, const struct sip_msg *message, void *arg)
{
    (void)error;
    (void)message;
    line_say("a call has ended", "");
    end_call(arg);
}

// ---- A call that comes --------------------------------------------------------------------------

static void on_established(const struct sip_msg *message, void *arg)
{
    struct party *party = arg;

    (void)message;
    if (party->is_established || !party->media)
        return;
    party->is_established = true;
    party->bridge->tally->calls++;
    media_start(party->media, ++party->bridge->taken);
    line_say("in a call by", voip_codec(party->media->call)->name);
}

static int on_answer(const struct sip_msg *message, void *arg)
{
    struct party *party = arg;

    return party->media ? media_take(party->media, message->mb, false) : EINVAL;
}

// A call is offered anew in its midst, or is asked for our offer.
static int on_offer(struct mbuf **description, const struct sip_msg *message, void *arg)
{
    struct party *party = arg;
    const bool has_offer = mbuf_get_left(message->mb) > 0;

    if (!party->media)
        return EINVAL;
    const int error = has_offer ? media_take(party->media, message->mb, true) : 0;
    return error ? error : media_describe(party->media, description, !has_offer);
}

static int take_up(struct party *party, const struct sip_msg *message)
{
    struct bridge *bridge = party->bridge;
    const bool has_offer = mbuf_get_left(message->mb) > 0;
    struct mbuf *description = NULL;
    int error = media_open(&party->media, bridge->voip, &bridge->local);

    if (error)
        return error;
    if (has_offer)
        error = media_take(party->media, message->mb, true);
    if (error == 0)
        error = media_describe(party->media, &description, !has_offer);
    if (error == 0)
        error =
            sipsess_accept(&party->session, bridge->calls, message, 200, "OK", bridge->voip->user,
                           "application/sdp", description, NULL, NULL, false, on_offer, on_answer,
                           on_established, NULL, NULL, on_close, party, NULL);
    mem_deref(description);
    party->media->heard_ns = wb_now_ns();
    if (error)
        party->media = mem_deref(party->media);
    return error;
}

static struct party *nobody(struct bridge *bridge)
{
    for (int i = 0; i < VOIP_PARTIES && bridge->end_ns == 0; i++)
        if (!bridge->parties[i].media)
            return &bridge->parties[i];
    return NULL;
}

static void on_call(const struct sip_msg *message, void *arg)
{
    struct bridge *bridge = arg;
    struct party *party = nobody(bridge);
    const int error = party ? take_up(party, message) : EBUSY;

    if (error == 0)
        return;
    line_say("refuses a call", error == EBUSY ? "all places are taken" : strerror(error));
    if (error == EBUSY)
        (void)sip_treply(NULL, bridge->sip, message, 486, "Busy Here");
    else if (error == ENOTSUP)
        (void)sip_treply(NULL, bridge->sip, message, 488, "Not Acceptable Here");
    else
        (void)sip_treply(NULL, bridge->sip, message, 400, "Bad Session Description");
}

// ---- The sound ----------------------------------------------------------------------------------

static void note_sent(struct bridge *bridge)
{
    const uint64_t now = wb_now_ns();
    const uint32_t us = (uint32_t)((now - bridge->sent_ns) / 1000);

    if (bridge->sent_ns > 0 && us > bridge->tally->longest_us)
        bridge->tally->longest_us = us;
    bridge->sent_ns = now;
}

// The party of a mix may have left meanwhile, and another have come to its place.
static void on_mixed(const struct wb_answer *answer, void *arg)
{
    struct bridge *bridge = arg;
    struct voip_agent_tally *tally = bridge->tally;
    const struct voip_mix *mix = answer->data;
    const uint32_t us = now_us() - bridge->made_us[answer->number % WB_CALLS_MAX];

    if (answer->status != WB_OK) {
        tally->dropped++;
        return;
    }
    tally->answers++;
    tally->answers_us += us;
    tally->slowest_us = us > tally->slowest_us ? us : tally->slowest_us;
    note_sent(bridge);
    for (int i = 0; i < VOIP_PARTIES; i++) {
        const struct party *party = &bridge->parties[i];

        if (!party->is_established || party->media->call != mix->calls[i] ||
            mix->parts[i].bytes == 0)
            continue;
        media_send(party->media, &mix->parts[i]);
        tally->sent++;
    }
}

static void mix(struct bridge *bridge)
{
    bool is_empty = true;

    bridge->number++;
    for (int i = 0; i < VOIP_PARTIES; i++) {
        struct party *party = &bridge->parties[i];
        struct voip_packet *part = &bridge->sent.parts[i];

        bridge->sent.calls[i] = party->is_established ? party->media->call : 0;
        if (!party->is_established)
            continue;
        part->head.number = bridge->number;
        if (!media_next(party->media, part)) {
            part->head.call = party->media->call;
            part->bytes = 0;
        }
        is_empty = false;
    }
    if (is_empty) {
        bridge->sent_ns = 0;
    } else if (wb_call_async(&bridge->mix, &bridge->sent, sizeof bridge->sent, on_mixed, bridge,
                             0) == WB_OK) {
        bridge->made_us[++bridge->asked % WB_CALLS_MAX] = now_us();
    } else {
        bridge->tally->dropped++;
    }
}

// ---- All of it ----------------------------------------------------------------------------------

// A phone that has vanished sends no packets, and no BYE.
static void look_for_silence(struct bridge *bridge)
{
    const uint64_t most = bridge->voip->silence_ms * UINT64_C(1000000), now = wb_now_ns();

    for (int i = 0; i < VOIP_PARTIES && most > 0; i++) {
        struct party *party = &bridge->parties[i];

        // One that holds the call may be silent.
        if (party->media && (!party->is_established || party->media->direction == SDP_SENDRECV) &&
            now > party->media->heard_ns + most) {
            line_say("hangs up: nothing is heard from one phone", "");
            end_call(party);
        }
    }
}

static bool turn(struct bridge *bridge, bool is_called)
{
    const uint64_t now = wb_now_ns(), period_ns = bridge->voip->ptime_ms * UINT64_C(1000000);
    const uint32_t poll_us = bridge->voip->poll_us;
    const bool is_period = now >= bridge->period_ns;

    if (is_period) {
        mix(bridge);
        look_for_silence(bridge);
        bridge->period_ns += period_ns;
    }
    if (is_called || now >= bridge->turn_ns || (poll_us == 0 && is_period)) {
        bridge->turn_ns = now + (poll_us > 0 ? poll_us * UINT64_C(1000) : period_ns);
        if (!turn_take(&bridge->turn))
            line_say("the loop of libre fails", strerror(errno));
    }
    return bridge->end_ns == 0 || now < bridge->end_ns;
}

// Waits for whatever comes first; true when that is the network's.
static bool wait(struct wb_task *self, struct bridge *bridge)
{
    struct wb_wait set[] = { { .port = bridge->mix.answers },
                             { .file = bridge->turn.loop, .events = WB_FILE_READABLE } };
    const bool has_file = bridge->voip->poll_us == 0;
    const uint64_t now = wb_now_ns();
    const uint64_t due = bridge->period_ns < bridge->turn_ns ? bridge->period_ns : bridge->turn_ns;
    const int which = wb_wait(set, has_file ? 2 : 1, due > now ? due - now : 0);

    if (which == WB_ERR_INVAL || which == WB_ERR_UNABLE || which == WB_ERR_NOMEM)
        wb_task_fail(self, "it cannot wait for its sockets here: set poll_us");
    return has_file && set[1].ready;
}

static void fail(struct wb_task *self, const char *what, int error)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "%s: %s", what, strerror(error));
    wb_task_fail(self, text);
}

static int open_sip(struct bridge *bridge)
{
    int error = sip_alloc(&bridge->sip, NULL, HASH_SIZE, HASH_SIZE, HASH_SIZE, "whimbrel", NULL,
                          bridge->voip);

    if (error)
        return error;
    sip_set_trace_handler(bridge->sip, pcap_sip);
    error = sip_transp_add(bridge->sip, SIP_TRANSP_UDP, &bridge->local);
    return error ? error : sipsess_listen(&bridge->calls, bridge->sip, HASH_SIZE, on_call, bridge);
}

static struct bridge *open_all(struct wb_task *self)
{
    struct bridge *bridge = task_keep(self, sizeof *bridge);
    struct voip *voip = voip_of(self);

    bridge->voip = voip;
    bridge->tally = &voip->tally.agent;
    for (int i = 0; i < VOIP_PARTIES; i++)
        bridge->parties[i].bridge = bridge;
    if (wb_caller_open(self, "mix", &bridge->mix) != WB_OK)
        wb_task_fail(self, "it may call no service of the name mix: see [[service]]");
    dbg_init(DBG_EMERG, DBG_NONE);  // packets of others are not shown on the terminal
    int error = libre_init();
    if (error == 0)
        error = sa_decode(&bridge->local, voip->listen, strlen(voip->listen));
    if (error)
        fail(self, "listen must be an address and a port of this machine", error);
    if (!turn_open(&bridge->turn))
        fail(self, "libre's main loop is not available", errno);
    error = open_sip(bridge);
    if (error)
        fail(self, "calls cannot be taken", error);
    line_say("listens at", voip->listen);
    bridge->period_ns = wb_now_ns();
    return bridge;
}

int bridge(struct wb_task *self)
{
    struct bridge *bridge = open_all(self);
    bool is_called = true;

    while (turn(bridge, is_called)) {
        if (wb_stopping(self))
            end_all(bridge);
        is_called = wait(self, bridge);
        if (wb_call_complete(&bridge->mix, 0) > 0)
            (void)wb_compute(self);
        wb_checkpoint();
    }
    end_all(bridge);
    bridge->calls = mem_deref(bridge->calls);
    bridge->sip = mem_deref(bridge->sip);
    turn_close(&bridge->turn);
    libre_close();
    return 0;
}
