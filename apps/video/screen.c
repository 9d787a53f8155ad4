// SPDX-License-Identifier: Apache-2.0
// A screen: takes what its player shows, compares and writes it.
#include "common/tasks.h"
#include "video.h"

struct screen {
    uint64_t next;     // frame; one before it has come already, and its player has been restarted
    uint64_t written;  // bytes of the output
};

static void look_at(struct wb_task *self, struct screen *screen, const struct video_frame *frame)
{
    struct video *app = video_of(self);
    const uint32_t player = wb_task_index(self);
    char why[VIDEO_WHY_BYTES];

    if (app->expected && frame->checksum != app->expected[frame->number % app->frames])
        app->result[player].differ++;
    if (!output_write(&app->output[player], &screen->written, frame->number, frame->checksum,
                      frame->planes, why))
        wb_task_fail(self, why);
}

int screen(struct wb_task *self)
{
    struct screen *screen = task_keep(self, sizeof *screen);
    struct wb_port *in = video_port(self, "in");
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const struct video_frame *frame = slot;

        if (frame->number >= screen->next) {
            if (wb_compute(self) && frame->has_picture)
                look_at(self, screen, frame);
            screen->next = frame->number + 1;
        }
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}
