// SPDX-License-Identifier: Apache-2.0
// Motion-JPEG: each frame is a picture of its own, so one that is passed over costs nothing, and
// the place in the film is all there is to know.
#include <stdio.h>
#include <stdlib.h>

#include "common/file.h"
#include "picture.h"
#include "source.h"
#include "video.h"

// ---- Before the run -----------------------------------------------------------------------------

static bool check_size(struct wb_app *app, const struct avi *film)
{
    const double width = wb_param_number(app, "width", 0);
    const double height = wb_param_number(app, "height", 0);

    if (film->width == 0 || film->width > PICTURE_SIDE_MAX || film->height == 0 ||
        film->height > PICTURE_SIDE_MAX)
        snprintf(app->error, sizeof app->error,
                 "input has frames of %u x %u pixels: it must be from 1 to %d each way",
                 film->width, film->height, PICTURE_SIDE_MAX);
    else if (film->width != width || film->height != height)
        snprintf(app->error, sizeof app->error,
                 "width and height are %g and %g, and the input's %u and %u: "
                 "--set width=%u --set height=%u",
                 width, height, film->width, film->height, film->width, film->height);
    else
        return true;
    return false;
}

// Counts the frames; true if one of them can be played.
static bool count_frames(struct video *video, struct picture_decoder *decoder)
{
    const struct avi *film = &video->film;
    size_t at = film->begin;
    struct avi_frame frame;
    bool playable = false;

    while (avi_next(film, &at, &frame)) {
        video->frames++;
        playable = playable || picture_look(decoder, frame.data, frame.bytes, film->width,
                                            film->height) == PICTURE_WHOLE;
    }
    return playable;
}

static const char *examine(struct video *video)
{
    struct picture_decoder *decoder = malloc(picture_decoder_bytes(video->film.width));

    if (!decoder)
        return "there is not enough memory to decode it";
    const bool playable = count_frames(video, decoder);
    free(decoder);
    if (video->frames == 0)
        return "it has no frame: get a complete copy";
    return playable ? NULL : "no frame of it is a baseline JPEG of 4:2:0; " AVI_CURE;
}

static bool take_over(struct video *video)
{
    video->width = video->film.width;
    video->height = video->film.height;
    video->rate = video->film.rate;
    video->scale = video->film.scale;
    return true;
}

bool source_setup(struct wb_app *app, struct video *video)
{
    size_t bytes;
    const char *data = file_load(app, "input", &bytes);

    if (!data)
        return false;
    const char *why = avi_open(&video->film, data, bytes);
    if (!why && !check_size(app, &video->film))
        return false;
    if (!why)
        why = examine(video);
    return why ? file_refuse(app, "input", why) : take_over(video);
}

// ---- A player's ---------------------------------------------------------------------------------

struct source {
    const struct video *video;
    uint64_t next;  // frame, in all plays
    size_t at;      // where in the film it is looked for
    struct avi_frame jpeg;
    _Alignas(64) unsigned char decoder[];  // a picture_decoder, as large as the film asks for
};

static size_t find_frame(const struct video *video, uint64_t number)
{
    size_t at = video->film.begin;
    struct avi_frame frame;

    for (uint64_t n = number % video->frames; n > 0; n--)
        (void)avi_next(&video->film, &at, &frame);
    return at;
}

void source_open(struct wb_task *self, struct source **source, uint64_t next)
{
    const struct video *video = video_of(self);

    if (!*source)
        *source = wb_memalign(64, sizeof **source + picture_decoder_bytes(video->width));
    if (!*source)
        wb_task_fail(self, "its heap is too small for its decoder: raise heap in app.toml");
    (*source)->video = video;
    (*source)->next = next;
    (*source)->at = find_frame(video, next);
}

bool source_next(struct source *source)
{
    const struct video *video = source->video;

    if (source->next == video->plays * video->frames)
        return false;
    if (source->next++ % video->frames == 0)
        source->at = video->film.begin;
    return avi_next(&video->film, &source->at, &source->jpeg);
}

bool source_picture(struct source *source, uint8_t *planes)
{
    const struct video *video = source->video;

    return picture_decode((void *)source->decoder, source->jpeg.data, source->jpeg.bytes,
                          video->width, video->height, planes) == PICTURE_WHOLE;
}
