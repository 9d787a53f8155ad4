// SPDX-License-Identifier: Apache-2.0
// A line without a network: one call, in which every packet comes back after `jitter_ms`. In the
// simulator, too, where there is no network.
#include <string.h>

#include "common/tasks.h"
#include "line.h"
#include "playout.h"

struct loop {
    struct line line;
    struct voip *voip;
    uint64_t end_ns;
    uint32_t call;
    struct playout playout;
};

static bool turn(struct line *line)
{
    struct loop *loop = (struct loop *)line;

    return wb_now_ns() < loop->end_ns;
}

static bool send_frame(struct line *line, const struct voip_packet *packet)
{
    struct loop *loop = (struct loop *)line;

    loop->voip->tally.agent.received++;
    playout_put(&loop->playout, (uint16_t)packet->head.number, false, 0, packet->payload,
                packet->bytes);
    return true;
}

static bool take_frame(struct line *line, struct voip_packet *packet)
{
    struct loop *loop = (struct loop *)line;
    const struct playout_packet *due;
    const enum playout_next next = playout_take(&loop->playout, &due);

    packet->head.call = loop->call;
    packet->bytes = next == PLAYOUT_PACKET ? due->bytes : 0;
    if (next == PLAYOUT_PACKET)
        memcpy(packet->payload, due->payload, due->bytes);
    return next != PLAYOUT_NOTHING;
}

static void hang_up(struct line *line)
{
    ((struct loop *)line)->end_ns = 0;
}

static bool close_line(struct line *line)
{
    struct loop *loop = (struct loop *)line;

    // Release: pairs with the acquire of the sound.
    wb_word_store(&loop->voip->call, 0, WB_RELEASE);
    return true;
}

struct line *line_loop(struct wb_task *self)
{
    static const struct line_kind kind = { turn, send_frame, take_frame, hang_up, close_line };
    struct loop *loop = task_keep(self, sizeof *loop);
    struct voip *voip = voip_of(self);

    loop->line = (struct line){ &kind, -1, NULL };
    loop->voip = voip;
    loop->end_ns =
        voip->hang_up_ms > 0 ? wb_now_ns() + voip->hang_up_ms * UINT64_C(1000000) : UINT64_MAX;
    loop->call = line_call(1, voip->order[0]);
    playout_start(&loop->playout, voip->jitter_frames);
    voip->tally.agent.calls = 1;
    line_say("in a call by", voip_codec(loop->call)->name);
    // Release: pairs with the acquire of the sound.
    wb_word_store(&voip->call, loop->call, WB_RELEASE);
    return &loop->line;
}
