// SPDX-License-Identifier: Apache-2.0
// A player: decodes a film frame by frame, at the rate that the user wants, and drops what is late.
//
// Each frame is a job of a periodic task. Whether a frame is late is what wb_period_wait() says of
// the job before it: after a missed deadline the next frames are not decoded, until one is in time
// again. How late a frame may be is `deadline_frames` of app.toml. So a player that has fallen
// behind shows what is not yet too late as fast as it can when it gets more of a core, and holds
// the rate from then on.
#include "video.h"

struct player {
    uint64_t next;  // frame, in all plays of the film
    struct video_tally tally;
    _Alignas(64) unsigned char decoder[];  // a picture_decoder, as large as the film asks for
};

// Where in the film a task is to go on, also one that was moved or started again.
static size_t find_frame(const struct video *video, uint64_t number)
{
    size_t at = video->film.begin;
    struct avi_frame frame;

    for (uint64_t n = number % video->frames; n > 0; n--)
        (void)avi_next(&video->film, &at, &frame);
    return at;
}

static bool next_frame(const struct video *video, uint64_t number, size_t *at,
                       struct avi_frame *jpeg)
{
    if (number == video->plays * video->frames)
        return false;
    if (number % video->frames == 0)
        *at = video->film.begin;
    return avi_next(&video->film, at, jpeg);
}

static void decode(const struct avi *film, struct player *player, const struct avi_frame *jpeg,
                   struct video_frame *frame)
{
    frame->has_picture = picture_decode((void *)player->decoder, jpeg->data, jpeg->bytes,
                                        film->width, film->height, frame->planes) == PICTURE_WHOLE;
    frame->checksum = picture_checksum(frame->planes, picture_bytes(film->width, film->height));
    if (frame->has_picture)
        player->tally.shown++;
    else
        player->tally.damaged++;
}

// Fills a slot and gives it to the screen; false when there is no screen any more.
static bool show(struct wb_task *self, struct player *player, const struct avi_frame *jpeg,
                 struct wb_port *out)
{
    void *slot;

    if (wb_port_claim(out, &slot, WB_FOREVER) != WB_OK)
        return false;
    struct video_frame *frame = slot;
    frame->number = player->next;
    if (wb_compute(self)) {
        decode(&video_of(self)->film, player, jpeg, frame);
    } else {
        frame->has_picture = false;
        player->tally.shown++;
    }
    return wb_port_commit(out) == WB_OK;
}

int video(struct wb_task *self)
{
    struct video *app = video_of(self);
    struct player *player =
        video_keep(self, sizeof *player + picture_decoder_bytes(app->film.width));
    struct wb_port *out = video_port(self, "out");
    size_t at = find_frame(app, player->next);
    struct avi_frame jpeg;
    bool late = false;

    while (!wb_stopping(self) && next_frame(app, player->next, &at, &jpeg)) {
        if (late)
            player->tally.dropped++;
        else if (!show(self, player, &jpeg, out))
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
