// SPDX-License-Identifier: Apache-2.0
#include "video.h"

#include <stdio.h>
#include <string.h>

struct video *video_of(const struct wb_task *self)
{
    return wb_task_app(self)->state;
}

void *video_keep(struct wb_task *self, size_t bytes)
{
    void *state = wb_task_state(self);

    if (state)
        return state;
    state = wb_memalign(64, bytes);
    if (!state)
        wb_task_fail(self, "its heap is too small: raise heap in app.toml");
    memset(state, 0, bytes);
    wb_task_set_state(self, state);
    return state;
}

struct wb_port *video_port(struct wb_task *self, const char *name)
{
    const struct video *video = video_of(self);
    const size_t bytes = sizeof(struct video_frame) + picture_bytes(video->width, video->height);
    struct wb_port *port = wb_port_find(self, name, 0);
    char text[VIDEO_WHY_BYTES];

    if (port && wb_port_slot_bytes(port) >= bytes)
        return port;
    if (port)
        snprintf(text, sizeof text, "its port %s needs slot_bytes of %lu or more", name,
                 (unsigned long)bytes);
    else
        snprintf(text, sizeof text, "its port %s is bound to no channel", name);
    wb_task_fail(self, text);
}
