// SPDX-License-Identifier: Apache-2.0
// A bridge: takes calls, up to VOIP_PARTIES at a time, and lets each party hear all others.
//
// In each period it has what is due of every party mixed, by one call of the mixer that it does not
// wait for, and sends each its own mix. Like the agent it does not move: its sockets are of its
// process.
#include <stdio.h>

#include "common/tasks.h"
#include "line.h"
#include "user_agent.h"

enum { LAST_WORDS_MS = 1000 };

struct bridge {
    struct user_agent agent;
    struct session parties[VOIP_PARTIES];
    struct voip_agent_tally *tally;
    struct wb_caller mix;
    struct voip_mix sent;
    uint32_t made_us[WB_CALLS_MAX];  // when a mix was asked for, by the number of the call
    uint32_t number, asked;          // of periods, and of mixes
    uint32_t ended;                  // calls
    uint64_t period_ns, turn_ns;     // when the next of each is due
    uint64_t sent_ns;                // when the last mix was sent; 0: none since there was nobody
    uint64_t end_ns;                 // when the bridge is given up, once it takes no more calls
};

static uint32_t now_us(void)
{
    return (uint32_t)(wb_now_ns() / 1000);
}

// ---- A call -------------------------------------------------------------------------------------

static void leave(struct bridge *bridge)
{
    if (!bridge->agent.is_leaving)
        bridge->end_ns = wb_now_ns() + LAST_WORDS_MS * UINT64_C(1000000);
    bridge->agent.is_leaving = true;
}

static void end_call(struct session *party)
{
    struct bridge *bridge = (struct bridge *)party->agent;
    const uint32_t wanted = bridge->agent.voip->wanted_calls;

    if (!party->media)
        return;
    session_end(party);
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

static void on_close(struct session *party, int error, const struct sip_msg *answer)
{
    (void)error;
    (void)answer;
    line_say("a call has ended", "");
    end_call(party);
}

static int on_call(struct session *party, const struct sip_msg *message)
{
    const int error = session_accept(party, message, 200);

    if (error)
        end_call(party);
    else
        party->media->heard_ns = wb_now_ns();
    return error;
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
        const struct session *party = &bridge->parties[i];

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
        struct session *party = &bridge->parties[i];
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
    for (int i = 0; i < VOIP_PARTIES; i++)
        if (session_is_silent(&bridge->parties[i])) {
            line_say("hangs up: nothing is heard from one phone", "");
            end_call(&bridge->parties[i]);
        }
}

static bool turn(struct bridge *bridge, bool is_called)
{
    const uint64_t now = wb_now_ns();
    const uint64_t period_ns = bridge->agent.voip->ptime_ms * UINT64_C(1000000);
    const uint32_t poll_us = bridge->agent.voip->poll_us;
    const bool is_period = now >= bridge->period_ns;

    if (is_period) {
        mix(bridge);
        look_for_silence(bridge);
        bridge->period_ns += period_ns;
    }
    if (is_called || now >= bridge->turn_ns || (poll_us == 0 && is_period)) {
        bridge->turn_ns = now + (poll_us > 0 ? poll_us * UINT64_C(1000) : period_ns);
        user_agent_turn(&bridge->agent);
    }
    return !bridge->agent.is_leaving || now < bridge->end_ns;
}

// Waits for whatever comes first; true when that is the network's.
static bool wait(struct wb_task *self, struct bridge *bridge)
{
    struct wb_wait set[] = { { .port = bridge->mix.answers },
                             { .file = bridge->agent.turn.loop, .events = WB_FILE_READABLE } };
    const bool has_file = bridge->agent.voip->poll_us == 0;
    const uint64_t now = wb_now_ns();
    const uint64_t due = bridge->period_ns < bridge->turn_ns ? bridge->period_ns : bridge->turn_ns;
    const int which = wb_wait(set, has_file ? 2 : 1, due > now ? due - now : 0);

    if (which == WB_ERR_INVAL || which == WB_ERR_UNABLE || which == WB_ERR_NOMEM)
        wb_task_fail(self, "it cannot wait for its sockets here: set poll_us");
    return has_file && set[1].ready;
}

int bridge(struct wb_task *self)
{
    static const struct user_agent_kind sip = { .on_call = on_call, .on_close = on_close };
    struct bridge *bridge = task_keep(self, sizeof *bridge);
    bool is_called = true;

    if (wb_caller_open(self, "mix", &bridge->mix) != WB_OK)
        wb_task_fail(self, "it may call no service of the name mix: see [[service]]");
    user_agent_open(self, &bridge->agent, &sip, bridge->parties, VOIP_PARTIES);
    bridge->tally = &bridge->agent.voip->tally.agent;
    line_say("listens at", bridge->agent.voip->listen);
    bridge->period_ns = wb_now_ns();
    while (turn(bridge, is_called)) {
        if (wb_stopping(self))
            end_all(bridge);
        is_called = wait(self, bridge);
        if (wb_call_complete(&bridge->mix, 0) > 0)
            (void)wb_compute(self);
        wb_checkpoint();
    }
    end_all(bridge);
    user_agent_close(&bridge->agent);
    return 0;
}
