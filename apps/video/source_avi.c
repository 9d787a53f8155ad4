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

// What the frames are that are not empty.
struct kinds {
    uint64_t of[PICTURE_STATUSES];
    uint32_t width, height;  // of the first one that is not of the film's size
};

// Looks at all frames. Empty ones before the first picture repeat nothing: the film begins behind
// them.
static struct kinds look_at_frames(struct video *video, struct picture_decoder *decoder)
{
    struct avi *film = &video->film;
    struct kinds kinds = { 0 };
    struct avi_frame frame;

    video->frames = 0;
    for (size_t at = film->begin; avi_next(film, &at, &frame);) {
        if (frame.bytes == 0 && video->frames == 0) {
            film->begin = at;
            continue;
        }
        video->frames++;
        if (frame.bytes == 0)
            continue;
        const enum picture_status status =
            picture_look(decoder, frame.data, frame.bytes, film->width, film->height);
        if (status == PICTURE_RESIZED && kinds.of[status] == 0) {
            kinds.width = decoder->width;
            kinds.height = decoder->height;
        }
        kinds.of[status]++;
    }
    return kinds;
}

// Where the header has a size that no picture has, that of the pictures holds.
static const char *examine(struct video *video)
{
    struct picture_decoder *decoder = malloc(picture_decoder_bytes(0));  // only to look

    if (!decoder)
        return "there is not enough memory to decode it";
    struct kinds kinds = look_at_frames(video, decoder);
    if (kinds.of[PICTURE_WHOLE] == 0 && kinds.of[PICTURE_RESIZED] > 0) {
        video->film.width = kinds.width;
        video->film.height = kinds.height;
        kinds = look_at_frames(video, decoder);
    }
    free(decoder);
    video->resized = kinds.of[PICTURE_RESIZED];
    if (video->frames == 0)
        return "it has no frame: get a complete copy";
    if (kinds.of[PICTURE_WHOLE] > 0)
        return NULL;
    return kinds.of[PICTURE_OTHER] > 0
               ? "no frame of it is a baseline JPEG of 4:2:0 or 4:2:2; " AVI_CURE
               : "none of its frames is a JPEG: get a complete copy";
}

// What is played though something is wrong with it.
static void warn(struct wb_app *app, const struct video *video)
{
    char text[VIDEO_WHY_BYTES];

    if (video->film.warning)
        file_warn(app, "input", video->film.warning);
    if (video->resized == 0)
        return;
    snprintf(text, sizeof text,
             "%llu of its %llu frames are not of %u x %u pixels: they are counted as damaged",
             (unsigned long long)video->resized, (unsigned long long)video->frames, video->width,
             video->height);
    file_warn(app, "input", text);
}

static void take_over(struct video *video)
{
    video->width = video->film.width;
    video->height = video->film.height;
    video->rate = video->film.rate;
    video->scale = video->film.scale;
}

bool source_setup(struct wb_app *app, struct video *video)
{
    char why[AVI_WHY_BYTES];
    size_t bytes;
    const char *data = file_load(app, "input", &bytes);

    if (!data)
        return false;
    if (!avi_open(&video->film, data, bytes, why))
        return file_refuse(app, "input", why);
    const char *reason = examine(video);
    if (reason)
        return file_refuse(app, "input", reason);
    if (!check_size(app, &video->film))
        return false;
    take_over(video);
    warn(app, video);
    return true;
}

// ---- A player's ---------------------------------------------------------------------------------

struct source {
    const struct video *video;
    uint64_t next;                         // frame, in all plays
    size_t at;                             // where in the film it is looked for
    struct avi_frame jpeg;                 // the last that was not empty
    _Alignas(64) unsigned char decoder[];  // a picture_decoder, as large as the film asks for
};

static bool step(struct source *source)
{
    struct avi_frame frame;

    if (!avi_next(&source->video->film, &source->at, &frame))
        return false;
    if (frame.bytes > 0)
        source->jpeg = frame;
    return true;
}

static void find_frame(struct source *source)
{
    source->at = source->video->film.begin;
    for (uint64_t n = source->next % source->video->frames; n > 0; n--)
        (void)step(source);
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
    find_frame(*source);
}

bool source_next(struct source *source)
{
    const struct video *video = source->video;

    if (source->next == video->plays * video->frames)
        return false;
    if (source->next++ % video->frames == 0)
        source->at = video->film.begin;
    return step(source);
}

bool source_picture(struct source *source, uint8_t *planes)
{
    const struct video *video = source->video;

    return picture_decode((void *)source->decoder, source->jpeg.data, source->jpeg.bytes,
                          video->width, video->height, planes) == PICTURE_WHOLE;
}
