// SPDX-License-Identifier: Apache-2.0
// Whatever FFmpeg's libraries read, brought to the size of the screen. On Linux only.
//
// The libraries know nothing of kernels. They move with their task because the Linux kernels share
// the globals of what a module is linked with, and give it its task's heap for malloc(). What would
// not move is left out: threads, and files that a task opened itself. Where pictures need each
// other, one that is passed over is decoded all the same; only what comes after it is saved.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libswscale/swscale.h>

#include "source.h"
#include "video.h"

enum { BUFFER_BYTES = 32 << 10 };

// ---- Before the run -----------------------------------------------------------------------------

static bool read_size(struct wb_app *app, const char *key, uint32_t *side)
{
    const double wanted = wb_param_number(app, key, 0);

    *side = wanted >= 1 && wanted <= PICTURE_SIDE_MAX ? (uint32_t)wanted : 0;
    if (*side != 0)
        return true;
    snprintf(app->error, sizeof app->error, "%s is %g: give a number from 1 to %d", key, wanted,
             PICTURE_SIDE_MAX);
    return false;
}

bool source_setup(struct wb_app *app, struct video *video)
{
    const char *path = wb_param_text(app, "input", "");
    struct stat about;

    // What is damaged is counted.
    av_log_set_level(AV_LOG_FATAL);
    video->rate = (uint32_t)(1000 * wb_param_number(app, "fps", 25));
    video->scale = 1000;
    if (!read_size(app, "width", &video->width) || !read_size(app, "height", &video->height))
        return false;
    video->fd = open(path, O_RDONLY);
    if (video->fd >= 0 && fstat(video->fd, &about) == 0 && S_ISREG(about.st_mode))
        return true;
    snprintf(app->error, sizeof app->error, "input \"%.100s\" cannot be read: %s", path,
             video->fd < 0 ? strerror(errno) : "it is not a regular file");
    return false;
}

// ---- The file, by place -------------------------------------------------------------------------

struct source {
    int fd;
    int64_t at;
    uint32_t width, height;
    int stream;
    bool is_damaged;
    AVFormatContext *format;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    struct SwsContext *scaler;
};

static int read_some(void *opaque, uint8_t *data, int bytes)
{
    struct source *source = opaque;
    const ssize_t n = pread(source->fd, data, (size_t)bytes, source->at);

    if (n <= 0)
        return n < 0 ? AVERROR(errno) : AVERROR_EOF;
    source->at += n;
    return (int)n;
}

static int64_t seek(void *opaque, int64_t offset, int whence)
{
    struct source *source = opaque;
    struct stat about;

    if (fstat(source->fd, &about) != 0)
        return AVERROR(errno);
    if (whence == AVSEEK_SIZE)
        return about.st_size;
    if (whence == SEEK_CUR)
        offset += source->at;
    else if (whence == SEEK_END)
        offset += about.st_size;
    return offset < 0 ? AVERROR(EINVAL) : (source->at = offset);
}

// ---- A player's ---------------------------------------------------------------------------------

_Noreturn static void refuse(struct wb_task *self, int error)
{
    char reason[AV_ERROR_MAX_STRING_SIZE], why[VIDEO_WHY_BYTES];

    av_strerror(error, reason, sizeof reason);
    snprintf(why, sizeof why, "FFmpeg's libraries cannot play the input: %s", reason);
    wb_task_fail(self, why);
}

static int open_format(struct source *source)
{
    uint8_t *buffer = av_malloc(BUFFER_BYTES);

    source->format = avformat_alloc_context();
    if (!buffer || !source->format)
        return AVERROR(ENOMEM);
    source->format->pb = avio_alloc_context(buffer, BUFFER_BYTES, 0, source, read_some, NULL, seek);
    if (!source->format->pb)
        return AVERROR(ENOMEM);
    const int error = avformat_open_input(&source->format, NULL, NULL, NULL);
    return error < 0 ? error : avformat_find_stream_info(source->format, NULL);
}

static int open_codec(struct source *source)
{
    const AVCodec *codec = NULL;

    source->stream = av_find_best_stream(source->format, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (source->stream < 0)
        return source->stream;
    source->codec = avcodec_alloc_context3(codec);
    source->packet = av_packet_alloc();
    source->frame = av_frame_alloc();
    if (!source->codec || !source->packet || !source->frame)
        return AVERROR(ENOMEM);
    source->codec->thread_count = 1;
    const int error = avcodec_parameters_to_context(
        source->codec, source->format->streams[source->stream]->codecpar);
    return error < 0 ? error : avcodec_open2(source->codec, codec, NULL);
}

void source_open(struct wb_task *self, struct source **source, uint64_t next)
{
    const struct video *video = video_of(self);

    (void)next;  // its task does not start again
    struct source *opened = wb_memalign(64, sizeof *opened);
    if (!opened)
        refuse(self, AVERROR(ENOMEM));
    *opened = (struct source){ .fd = video->fd, .width = video->width, .height = video->height };
    *source = opened;
    int error = open_format(opened);
    if (error >= 0)
        error = open_codec(opened);
    if (error < 0)
        refuse(self, error);
}

// The next packet of the film for the decoder; at the end of the file what it keeps back.
static int feed(struct source *source)
{
    int error;

    do {
        av_packet_unref(source->packet);
        error = av_read_frame(source->format, source->packet);
    } while (error >= 0 && source->packet->stream_index != source->stream);
    return avcodec_send_packet(source->codec, error < 0 ? NULL : source->packet);
}

// A packet that cannot be decoded is a frame that is damaged.
bool source_next(struct source *source)
{
    int error;

    source->is_damaged = false;
    while ((error = avcodec_receive_frame(source->codec, source->frame)) == AVERROR(EAGAIN)) {
        source->is_damaged = feed(source) == AVERROR_INVALIDDATA;
        if (source->is_damaged)
            return true;
    }
    source->is_damaged = error < 0 || source->frame->decode_error_flags != 0;
    return error != AVERROR_EOF;
}

static bool is_as_wanted(const struct source *source)
{
    const AVFrame *frame = source->frame;

    return (frame->format == AV_PIX_FMT_YUV420P || frame->format == AV_PIX_FMT_YUVJ420P) &&
           (uint32_t)frame->width == source->width && (uint32_t)frame->height == source->height;
}

static bool scale(struct source *source, uint8_t *planes)
{
    const AVFrame *frame = source->frame;
    const int width = (int)source->width, height = (int)source->height;
    uint8_t *to[4];
    int strides[4];

    source->scaler = sws_getCachedContext(source->scaler, frame->width, frame->height,
                                          (enum AVPixelFormat)frame->format, width, height,
                                          AV_PIX_FMT_YUV420P, SWS_BICUBIC, NULL, NULL, NULL);
    av_image_fill_arrays(to, strides, planes, AV_PIX_FMT_YUV420P, width, height, 1);
    return source->scaler && sws_scale(source->scaler, (const uint8_t *const *)frame->data,
                                       frame->linesize, 0, frame->height, to, strides) == height;
}

bool source_picture(struct source *source, uint8_t *planes)
{
    const AVFrame *frame = source->frame;

    if (source->is_damaged)
        return false;
    if (!is_as_wanted(source))
        return scale(source, planes);
    const int bytes = (int)picture_bytes(source->width, source->height);
    return av_image_copy_to_buffer(planes, bytes, (const uint8_t *const *)frame->data,
                                   frame->linesize, (enum AVPixelFormat)frame->format, frame->width,
                                   frame->height, 1) == bytes;
}
