// SPDX-License-Identifier: Apache-2.0
// The hooks around a run: reads the film into memory that every kernel sees, opens the outputs, and
// tells in the end what became of the frames.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "video.h"

struct file {
    const char *key, *path;
    char *data;  // with a 0 behind it
    size_t bytes;
};

static bool refuse(struct wb_app *app, const struct file *file, const char *reason)
{
    snprintf(app->error, sizeof app->error, "%s \"%.100s\" cannot be read: %s", file->key,
             file->path, reason);
    return false;
}

static bool read_all(struct wb_app *app, const struct file *file, int fd)
{
    for (size_t got = 0; got < file->bytes;) {
        const ssize_t n = read(fd, file->data + got, file->bytes - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return refuse(app, file, n < 0 ? strerror(errno) : "it became shorter meanwhile");
        got += (size_t)n;
    }
    return true;
}

static bool read_open(struct wb_app *app, struct file *file, int fd)
{
    struct stat about;

    if (fd < 0 || fstat(fd, &about) != 0)
        return refuse(app, file, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return refuse(app, file, "it is not a regular file");
    file->bytes = (size_t)about.st_size;
    file->data = wb_app_alloc(app, file->bytes + 1);
    if (!file->data)
        return refuse(app, file, "it does not fit into memory of [app]: raise that in app.toml");
    return read_all(app, file, fd);
}

static bool read_file(struct wb_app *app, struct file *file, const char *key)
{
    *file = (struct file){ .key = key, .path = wb_param_text(app, key, "") };
    const int fd = open(file->path, O_RDONLY);
    const bool done = read_open(app, file, fd);

    if (fd >= 0)
        close(fd);
    return done;
}

// ---- The film -----------------------------------------------------------------------------------

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
        return "there is no memory to decode it in";
    const bool playable = count_frames(video, decoder);
    free(decoder);
    if (video->frames == 0)
        return "it has no frame: was it cut off?";
    return playable ? NULL : "no frame of it is a baseline JPEG of 4:2:0; " AVI_CURE;
}

static bool open_film(struct wb_app *app, struct video *video)
{
    struct file file;

    if (!read_file(app, &file, "input"))
        return false;
    const char *why = avi_open(&video->film, file.data, file.bytes);
    if (!why && !check_size(app, &video->film))
        return false;
    if (!why)
        why = examine(video);
    if (!why)
        return true;
    snprintf(app->error, sizeof app->error, "input \"%.100s\" cannot be played: %s", file.path,
             why);
    return false;
}

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

static bool read_expected(struct wb_app *app, struct video *video)
{
    uint32_t *expected = wb_app_alloc(app, (size_t)video->frames * sizeof *expected);
    struct file file;

    if (*wb_param_text(app, "expected", "") == '\0')
        return true;
    if (!read_file(app, &file, "expected"))
        return false;
    if (!expected)
        return refuse(app, &file, "memory of [app] is too small: raise that in app.toml");
    if (read_checksums(expected, video->frames, file.data) != video->frames)
        return refuse(app, &file, "it is not of this input, one line of framecrc for each frame");
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
    const struct avi *film = &video->film;

    for (uint32_t i = 0; i < video->players; i++) {
        video->output[i] = (struct output){
            .width = film->width, .height = film->height, .rate = film->rate, .scale = film->scale
        };
        if (!output_open(&video->output[i], wb_param_text(app, "output", ""), i, app->error))
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
    if (!read_plays(app, video) || !open_film(app, video) || !read_expected(app, video) ||
        !open_outputs(app, video))
        return WB_ERR_INVAL;
    app->state = video;
    return WB_OK;
}

static void tell(const struct video *video, uint32_t player)
{
    const struct video_result *result = &video->result[player];
    const struct video_tally *tally = &result->tally;

    fprintf(stderr,
            "video.%u: %" PRIu64 " frames shown, %" PRIu64 " dropped, %" PRIu64 " damaged%s\n",
            player, tally->shown, tally->dropped, tally->damaged,
            !video->expected      ? ""
            : result->differ == 0 ? ", all as expected"
                                  : ", some differ");
}

enum wb_status wb_app_finish(struct wb_app *app)
{
    struct video *video = app->state;
    enum wb_status status = WB_OK;

    for (uint32_t i = 0; video && i < video->players; i++) {
        const uint64_t differ = video->result[i].differ;

        tell(video, i);
        output_close(&video->output[i]);
        if (differ == 0)
            continue;
        snprintf(app->error, sizeof app->error, "video.%u: %" PRIu64 " frames are not those of %s",
                 i, differ, wb_param_text(app, "expected", ""));
        status = WB_ERR_INVAL;
    }
    return status;
}
