// SPDX-License-Identifier: Apache-2.0
// The agent: gives packets to the line as they come from the encoder, looks after the line every
// `poll_us`, and gives the decoder what is to be played once per period.
//
// What the line keeps belongs to the process of its kernel (sockets), so the agent does not move.
#include <string.h>

#include "common/tasks.h"
#include "line.h"

struct agent {
    struct voip *voip;
    struct line *line;
    struct wb_port *in, *out;
    uint64_t turn_ns, period_ns;  // when the next of each is due
    uint32_t call, next;          // next: of the frames of this call that is to be sent
    uint32_t periods;
    uint64_t sent_ns;  // when the last packet was sent; 0: none in this call
};

// ---- To the line --------------------------------------------------------------------------------

static void note_sent(struct agent *agent)
{
    struct voip_agent_tally *tally = &agent->voip->tally.agent;
    const uint64_t now = wb_now_ns();
    const uint32_t us = (uint32_t)((now - agent->sent_ns) / 1000);

    if (agent->sent_ns > 0 && us > tally->longest_us)
        tally->longest_us = us;
    agent->sent_ns = now;
    tally->sent++;
}

static void send(struct agent *agent, const struct voip_packet *packet)
{
    // Relaxed: the agent is the only one who writes it.
    if (packet->head.call != wb_word_load(&agent->voip->call, WB_RELAXED))
        return;
    if (packet->head.call != agent->call) {
        agent->call = packet->head.call;
        agent->next = 0;
        agent->sent_ns = 0;
    }
    // An encoder that started again encodes a frame twice.
    if (packet->head.number < agent->next || packet->bytes == 0)
        return;
    agent->next = packet->head.number + 1;
    agent->line->kind->send(agent->line, packet);
    note_sent(agent);
}

// Sends what comes until `until_ns`; false when nothing more comes.
static bool send_until(struct agent *agent, uint64_t until_ns)
{
    for (;;) {
        const uint64_t now = wb_now_ns();
        const void *slot;
        const enum wb_status status =
            wb_port_hold(agent->in, &slot, until_ns > now ? until_ns - now : 0);

        if (status != WB_OK)
            return status != WB_ERR_GONE;
        send(agent, slot);
        wb_port_release(agent->in);
    }
}

// ---- From the line ------------------------------------------------------------------------------

static void play(struct agent *agent)
{
    struct voip_packet packet;

    packet.head.number = agent->periods++;
    if (agent->line->kind->take(agent->line, &packet) &&
        wb_port_send(agent->out, &packet, 0) != WB_OK)
        agent->voip->tally.agent.dropped++;
}

static bool turn(struct agent *agent)
{
    const uint64_t now = wb_now_ns();

    if (now >= agent->period_ns) {
        play(agent);
        agent->period_ns += agent->voip->ptime_ms * UINT64_C(1000000);
    }
    if (now < agent->turn_ns)
        return true;
    agent->turn_ns = now + agent->voip->poll_us * UINT64_C(1000);
    return agent->line->kind->turn(agent->line);
}

int agent(struct wb_task *self)
{
    struct voip *voip = voip_of(self);
    struct agent agent = { .voip = voip };

    agent.in = task_port(self, "in", 0, sizeof(struct voip_packet));
    agent.out = task_port(self, "out", 0, sizeof(struct voip_packet));
    agent.line = strcmp(voip->peer, "loop") == 0 ? line_loop(self) : line_sip(self);
    agent.period_ns = wb_now_ns();
    while (turn(&agent)) {
        if (wb_stopping(self))
            agent.line->kind->hang_up(agent.line);
        if (!send_until(&agent, agent.period_ns < agent.turn_ns ? agent.period_ns : agent.turn_ns))
            break;
        wb_checkpoint();
    }
    return agent.line->kind->close(agent.line) ? 0 : 1;
}
