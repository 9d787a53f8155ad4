// SPDX-License-Identifier: Apache-2.0
#include "video.h"

#include "common/tasks.h"

struct video *video_of(const struct wb_task *self)
{
    return wb_task_app(self)->state;
}

struct wb_port *video_port(struct wb_task *self, const char *name)
{
    const struct video *video = video_of(self);
    const size_t picture = picture_bytes(video->width, video->height);

    return wb_port_find_room(self, name, 0, sizeof(struct video_frame) + picture);
}
