// SPDX-License-Identifier: Apache-2.0
// A player: decodes a film frame by frame, at the rate that the user wants, and drops what is late.
//
// Each frame is a job of a periodic task. Whether a frame is late is what wb_period_wait() says of
// the job before it: after a missed deadline the next frames are not decoded, until one is in time
// again. How late a frame may be is `deadline_frames` of app.toml. So a player that has fallen
// behind shows what is not yet too late as fast as it can when it gets more of a core, and holds
// the rate from then on.
#include "common/tasks.h"
#include "source.h"
#include "video.h"

struct player {
    uint64_t next;  // frame, in all plays of the film
    struct video_tally tally;
    struct source *source;
};

static void fill(const struct video *video, struct player *player, struct video_frame *frame)
{
    frame->has_picture = source_picture(player->source, frame->planes);
    frame->checksum = picture_checksum(frame->planes, picture_bytes(video->width, video->height));
    if (frame->has_picture)
        player->tally.shown++;
    else
        player->tally.damaged++;
}

// Fills a slot and gives it to the screen; false when there is no screen any more.
static bool show(struct wb_task *self, struct player *player, struct wb_port *out)
{
    void *slot;

    if (wb_port_claim(out, &slot, WB_FOREVER) != WB_OK)
        return false;
    struct video_frame *frame = slot;
    frame->number = player->next;
    if (wb_compute(self)) {
        fill(video_of(self), player, frame);
    } else {
        frame->has_picture = false;
        player->tally.shown++;
    }
    return wb_port_commit(out) == WB_OK;
}

int video(struct wb_task *self)
{
    struct video *app = video_of(self);
    struct player *player = task_keep(self, sizeof *player);
    struct wb_port *out = video_port(self, "out");
    bool late = false;

    source_open(self, &player->source, player->next);
    while (!wb_stopping(self)) {
        if (!source_next(player->source)) {
            app->result[wb_task_index(self)].ended = true;
            break;
        }
        if (late)
            player->tally.dropped++;
        else if (!show(self, player, out))
            break;
        player->next++;
        app->result[wb_task_index(self)].tally = player->tally;
        // Players on one core take turns, frame by frame, also where all are late.
        if (!late)
            wb_yield();
        late = !wb_period_wait(self);
        wb_checkpoint();
    }
    return 0;
}
