// SPDX-License-Identifier: Apache-2.0
// The hooks around a run: looks at the film, opens the outputs, and tells in the end what became of
// the frames.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "source.h"
#include "video.h"

enum { CHECKSUM_LINE_BYTES = 32 };  // at least: a line of framecrc has more

// ---- What the frames should be ------------------------------------------------------------------

// The checksum is the last field of a line of FFmpeg's framecrc.
static bool read_checksum(const char *line, size_t bytes, uint32_t *checksum)
{
    const char *end = line + bytes, *field = end;
    char *stop;

    while (field > line && field[-1] != ' ')
        field--;
    *checksum = (uint32_t)strtoul(field, &stop, 16);
    return end - field == 10 && stop == end && memcmp(field, "0x", 2) == 0;
}

static uint64_t read_checksums(uint32_t *checksums, uint64_t most, const char *text)
{
    uint64_t n = 0;

    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\r\n");

        if (bytes > 0 && *text != '#') {
            if (n == most || !read_checksum(text, bytes, &checksums[n]))
                return 0;
            n++;
        }
        text += bytes;
        text += strspn(text, "\r\n");
    }
    return n;
}

// A film whose length is not known has as many frames as are expected of it.
static bool read_expected(struct wb_app *app, struct video *video)
{
    size_t bytes;

    if (*wb_param_text(app, "expected", "") == '\0')
        return true;
    const char *text = file_load(app, "expected", &bytes);
    if (!text)
        return false;
    const uint64_t most = video->frames ? video->frames : bytes / CHECKSUM_LINE_BYTES;
    uint32_t *expected = wb_app_alloc(app, (size_t)most * sizeof *expected);
    if (!expected)
        return file_refuse(app, "expected", "memory of [app] is too small: raise it in app.toml");
    const uint64_t lines = read_checksums(expected, most, text);
    if (lines == 0 || (video->frames && lines != video->frames))
        return file_refuse(app, "expected",
                           "it is not of this input, one line of framecrc for each frame");
    video->frames = lines;
    video->expected = expected;
    return true;
}

// ---- Before and after the run -------------------------------------------------------------------

static bool read_plays(struct wb_app *app, struct video *video)
{
    const double plays = wb_param_number(app, "plays", 1);

    video->plays = (uint64_t)plays;
    if (plays >= 1 && plays <= 1e9)
        return true;
    snprintf(app->error, sizeof app->error, "plays is %g: give a number from 1 to 1e9", plays);
    return false;
}

static bool open_outputs(struct wb_app *app, struct video *video)
{
    for (uint32_t i = 0; i < video->players; i++) {
        struct output *output = &video->output[i];

        *output = (struct output){ .width = video->width,
                                   .height = video->height,
                                   .rate = video->rate,
                                   .scale = video->scale };
        if (!output_open(output, wb_param_text(app, "output", ""), i, app->error))
            return false;
    }
    return true;
}

static struct video *allocate(struct wb_app *app)
{
    struct video *video = wb_app_alloc(app, sizeof *video);

    if (!video)
        return NULL;
    while (wb_task_find(app, "video", video->players))
        video->players++;
    video->result = wb_app_alloc(app, video->players * sizeof *video->result);
    video->output = wb_app_alloc(app, video->players * sizeof *video->output);
    return video->result && video->output ? video : NULL;
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    struct video *video = allocate(app);

    if (!video) {
        snprintf(app->error, sizeof app->error, "[app] memory is too small for the players");
        return WB_ERR_NOMEM;
    }
    if (!read_plays(app, video) || !source_setup(app, video) || !read_expected(app, video) ||
        !open_outputs(app, video))
        return WB_ERR_INVAL;
    app->state = video;
    return WB_OK;
}

static void tell(const struct video *video, uint32_t player)
{
    const struct video_result *result = &video->result[player];
    const struct video_tally *tally = &result->tally;

    fprintf(stderr, "video.%u: %llu frames shown, %llu dropped, %llu damaged%s\n",
            (unsigned int)player, (unsigned long long)tally->shown,
            (unsigned long long)tally->dropped, (unsigned long long)tally->damaged,
            !video->expected      ? ""
            : result->differ == 0 ? ", all as expected"
                                  : ", some differ");
}

// A run that was not stopped before, and has shown nothing.
static bool is_dark(const struct video *video)
{
    bool ended = false;

    for (uint32_t i = 0; i < video->players; i++) {
        ended = ended || video->result[i].ended;
        if (video->result[i].tally.shown > 0)
            return false;
    }
    return ended;
}

enum wb_status wb_app_finish(struct wb_app *app)
{
    struct video *video = app->state;
    enum wb_status status = WB_OK;

    if (video && is_dark(video)) {
        file_refuse(app, "input", "no frame of it could be shown: get a complete copy");
        status = WB_ERR_INVAL;
    }
    for (uint32_t i = 0; video && i < video->players; i++) {
        const uint64_t differ = video->result[i].differ;

        tell(video, i);
        output_close(&video->output[i]);
        if (differ == 0)
            continue;
        snprintf(app->error, sizeof app->error, "video.%u: %llu frames are not those of %s",
                 (unsigned int)i, (unsigned long long)differ, wb_param_text(app, "expected", ""));
        status = WB_ERR_INVAL;
    }
    return status;
}
