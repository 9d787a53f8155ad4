// SPDX-License-Identifier: Apache-2.0
// The agent: waits for everything at once. It has frames of the microphone cleaned and encoded, and
// sends them; gives the line what comes from the network; and once per period has decoded what is
// to be played.
//
// Each of the three steps is a call that it does not wait for: what ends is handled as it comes.
// What the line keeps belongs to the process of its kernel (sockets), so the agent does not move.
#include <stdio.h>
#include <string.h>

#include "common/tasks.h"
#include "line.h"

enum { SERVICES = 3, MOST_WAITS = SERVICES + 2, PATIENCE_NS = 500000000, TEXT_BYTES = 256 };

struct agent {
    struct wb_task *self;
    struct voip *voip;
    struct voip_agent_tally *tally;
    struct line *line;
    struct wb_port *in, *out;  // from and to the sound
    struct service {
        struct wb_caller caller;
        uint32_t made;                   // calls
        uint32_t made_us[WB_CALLS_MAX];  // when, by the number of the call
    } clean, encode, decode;
    uint64_t turn_ns, period_ns, answers_ns;  // when the next of each is due
    uint32_t periods;
    uint32_t pending;     // calls that are not answered
    uint32_t call, next;  // next: of the frames of this call that is to be sent
    uint64_t sent_ns;     // when the last packet was sent; 0: none in this call
};

// ---- Calls --------------------------------------------------------------------------------------

static uint32_t now_us(void)
{
    return (uint32_t)(wb_now_ns() / 1000);
}

// Calls a service with a frame or a packet.
static void look_later(struct agent *agent)
{
    agent->answers_ns = wb_now_ns() + agent->voip->answers_us * UINT64_C(1000);
}

static void call(struct agent *agent, struct service *service, const void *what, uint32_t bytes,
                 wb_call_done *done)
{
    const uint32_t us = now_us();

    if (wb_call_async(&service->caller, what, bytes, done, agent, 0) != WB_OK) {
        agent->tally->dropped++;
        return;
    }
    if (agent->pending++ == 0)
        look_later(agent);
    service->made_us[++service->made % WB_CALLS_MAX] = us;
    // An answer that does not come in time is handled as it comes.
    if (agent->voip->blocks && wb_call_complete(&service->caller, PATIENCE_NS) < 0)
        line_say("a service does not answer", "");
}

static bool is_answered(struct agent *agent, const struct service *service,
                        const struct wb_answer *answer)
{
    struct voip_agent_tally *tally = agent->tally;
    const uint32_t us = now_us() - service->made_us[answer->number % WB_CALLS_MAX];

    agent->pending--;
    if (answer->status != WB_OK) {
        tally->dropped++;
        return false;
    }
    tally->answers++;
    tally->answers_us += us;
    if (service == &agent->decode) {
        tally->decoded++;
        tally->decoded_us += us;
    }
    tally->slowest_us = us > tally->slowest_us ? us : tally->slowest_us;
    return true;
}

// ---- From the microphone to the line ------------------------------------------------------------

static void note_sent(struct agent *agent)
{
    const uint64_t now = wb_now_ns();
    const uint32_t us = (uint32_t)((now - agent->sent_ns) / 1000);

    if (agent->sent_ns > 0 && us > agent->tally->longest_us)
        agent->tally->longest_us = us;
    agent->sent_ns = now;
    agent->tally->sent++;
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
    if (packet->head.number < agent->next || packet->bytes == 0)
        return;
    agent->next = packet->head.number + 1;
    (void)wb_compute(agent->self);  // a frame in each direction is its firing
    if (agent->line->kind->send(agent->line, packet))
        note_sent(agent);
    else
        agent->sent_ns = 0;
}

static void on_encoded(const struct wb_answer *answer, void *arg)
{
    struct agent *agent = arg;

    if (is_answered(agent, &agent->encode, answer))
        send(agent, answer->data);
}

static void on_clean(const struct wb_answer *answer, void *arg)
{
    struct agent *agent = arg;

    if (is_answered(agent, &agent->clean, answer))
        call(agent, &agent->encode, answer->data, answer->bytes, on_encoded);
}

// The microphone's samples come first in what is captured: where nothing is to be taken off, they
// are the frame.
static void take_frame(struct agent *agent, const void *captured)
{
    const struct voip *voip = agent->voip;

    if (voip->cancels || voip->suppresses)
        call(agent, &agent->clean, captured, voip_captured_bytes(voip), on_clean);
    else
        call(agent, &agent->encode, captured, voip_frame_bytes(voip), on_encoded);
}

// Takes one frame at most, so that all else has its turn; false when there is no sound any more.
static bool take_captured(struct agent *agent)
{
    const void *captured;
    const enum wb_status status = wb_port_hold(agent->in, &captured, 0);

    if (status == WB_OK) {
        take_frame(agent, captured);
        wb_port_release(agent->in);
    }
    return status != WB_ERR_GONE;
}

// ---- From the line to the loudspeaker -----------------------------------------------------------

static void on_decoded(const struct wb_answer *answer, void *arg)
{
    struct agent *agent = arg;

    if (is_answered(agent, &agent->decode, answer) &&
        wb_port_send(agent->out, answer->data, 0) != WB_OK)
        agent->tally->dropped++;
}

static void play(struct agent *agent)
{
    struct voip_packet packet;

    packet.head.number = agent->periods++;
    if (agent->line->kind->take(agent->line, &packet))
        call(agent, &agent->decode, &packet, VOIP_PACKET_HEAD + packet.bytes, on_decoded);
}

// What has ended: what is to be played first, for a packet that is sent takes time; then in the
// order in which one leads to the next. Whether anything has does not matter.
static void complete(struct agent *agent)
{
    struct wb_caller *const callers[SERVICES] = { &agent->decode.caller, &agent->clean.caller,
                                                  &agent->encode.caller };

    if (agent->voip->answers_us > 0 && (agent->pending == 0 || wb_now_ns() < agent->answers_ns))
        return;
    look_later(agent);
    for (int i = 0; i < SERVICES; i++)
        if (wb_call_complete(callers[i], 0) < 0)
            continue;
}

// ---- All of it ----------------------------------------------------------------------------------

// The line is looked after in each period, for its timers, and when its file says so or, without
// one that is waited for, every `poll_us`.
static bool turn(struct agent *agent, bool is_called)
{
    const uint64_t now = wb_now_ns(), period_ns = agent->voip->ptime_ms * UINT64_C(1000000);
    const uint32_t poll_us = agent->voip->poll_us;
    const bool is_period = now >= agent->period_ns;

    if (is_period) {
        play(agent);
        agent->period_ns += period_ns;
    }
    if (!is_called && now < agent->turn_ns && (poll_us > 0 || !is_period))
        return true;
    agent->turn_ns = now + (poll_us > 0 ? poll_us * UINT64_C(1000) : period_ns);
    return agent->line->kind->turn(agent->line);
}

static uint64_t time_left(const struct agent *agent)
{
    const uint64_t now = wb_now_ns();
    uint64_t due = agent->period_ns < agent->turn_ns ? agent->period_ns : agent->turn_ns;

    if (agent->voip->answers_us > 0 && agent->pending > 0 && agent->answers_ns < due)
        due = agent->answers_ns;
    return due > now ? due - now : 0;
}

// Waits for whatever comes first; true when that is the line's.
static bool wait(struct wb_task *self, const struct agent *agent)
{
    struct wb_wait set[MOST_WAITS] = { { .port = agent->clean.caller.answers },
                                       { .port = agent->encode.caller.answers },
                                       { .port = agent->decode.caller.answers },
                                       { .port = agent->in },
                                       { .file = agent->line->file, .events = WB_FILE_READABLE } };
    const uint32_t first = agent->voip->answers_us > 0 ? SERVICES : 0;
    const bool has_file = agent->line->file >= 0 && agent->voip->poll_us == 0;
    const uint32_t n = MOST_WAITS - first - !has_file;
    const int which = wb_wait(set + first, n, time_left(agent));

    if (which == WB_ERR_INVAL || which == WB_ERR_UNABLE || which == WB_ERR_NOMEM)
        wb_task_fail(self, "it cannot wait for its sockets here: set poll_us");
    return has_file && set[MOST_WAITS - 1].ready;
}

static void open_service(struct wb_task *self, const char *name, struct wb_caller *caller)
{
    if (wb_caller_open(self, name, caller) != WB_OK)
        wb_task_fail(self, "it may call no service of a name that its code knows: see [[service]]");
}

static void open_all(struct wb_task *self, struct agent *agent)
{
    struct voip *voip = voip_of(self);

    agent->self = self;
    agent->voip = voip;
    agent->tally = &voip->tally.agent;
    agent->in = wb_port_find(self, "in", 0, voip_captured_bytes(voip));
    agent->out = wb_port_find(self, "out", 0, voip_frame_bytes(voip));
    open_service(self, "clean", &agent->clean.caller);
    open_service(self, "encode", &agent->encode.caller);
    open_service(self, "decode", &agent->decode.caller);
    agent->line = strcmp(voip->peer, "loop") == 0 ? line_loop(self) : line_sip(self);
    agent->period_ns = wb_now_ns();
}

int agent(struct wb_task *self)
{
    struct agent agent = { 0 };
    bool is_called = true;

    open_all(self, &agent);
    while (turn(&agent, is_called)) {
        if (wb_stopping(self))
            agent.line->kind->hang_up(agent.line);
        is_called = wait(self, &agent);
        complete(&agent);
        if (!take_captured(&agent))
            break;
        wb_checkpoint();
    }
    if (agent.line->kind->close(agent.line))
        return 0;
    if (!agent.line->cure)
        wb_task_fail(self, "there was no call");
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "there was no call\nhelp: %s", agent.line->cure);
    wb_task_fail(self, text);
}
