// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "sigmf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "yyjson.h"

enum { COUNT_MAX = 1 << 30, BYTES_MAX = 1 << 28 };

// A number of an object, 0 where it has none.
static double number(yyjson_val *object, const char *key)
{
    const double value = yyjson_get_num(yyjson_obj_get(object, key));

    return isfinite(value) && value > 0 ? value : 0;
}

static bool take_bytes(yyjson_val *object, const char *key, uint64_t *bytes, char *why)
{
    const double value = number(object, key);

    *bytes = value <= COUNT_MAX ? (uint64_t)value : 0;
    if (value <= COUNT_MAX)
        return true;
    snprintf(why, FM_SIGMF_WHY_BYTES, "its %s is %g: correct it", key, value);
    return false;
}

static bool take_datatype(struct fm_sigmf *sigmf, yyjson_val *global, char *why)
{
    const char *type = yyjson_get_str(yyjson_obj_get(global, "core:datatype"));

    if (!type)
        snprintf(why, FM_SIGMF_WHY_BYTES, "it has no core:datatype: add one, such as \"cf32_le\"");
    else if (type[0] == 'r')
        snprintf(why, FM_SIGMF_WHY_BYTES,
                 "its datatype \"%.20s\" is real: give a recording of pairs I, Q", type);
    else if (!fm_format_named(&sigmf->format, type))
        snprintf(why, FM_SIGMF_WHY_BYTES,
                 "its datatype is \"%.20s\": convert it to ci16_le or cf32_le", type);
    return why[0] == '\0';
}

static bool take_global(struct fm_sigmf *sigmf, yyjson_val *global, char *why)
{
    const char *dataset = yyjson_get_str(yyjson_obj_get(global, "core:dataset"));
    const double channels = number(global, "core:num_channels");

    if (!take_datatype(sigmf, global, why))
        return false;
    sigmf->rate = number(global, "core:sample_rate");
    if (channels > 1)
        snprintf(why, FM_SIGMF_WHY_BYTES, "it has %.0f channels: give a recording of one",
                 channels);
    else if (dataset && (strchr(dataset, '/') || strlen(dataset) >= sizeof sigmf->dataset))
        snprintf(why, FM_SIGMF_WHY_BYTES,
                 "its core:dataset is \"%.40s\": give the name of a file next to it", dataset);
    else if (yyjson_is_true(yyjson_obj_get(global, "core:metadata_only")))
        snprintf(why, FM_SIGMF_WHY_BYTES, "it has no samples (core:metadata_only): get its data");
    else if (dataset)
        snprintf(sigmf->dataset, sizeof sigmf->dataset, "%s", dataset);
    return why[0] == '\0' && take_bytes(global, "core:trailing_bytes", &sigmf->trailing_bytes, why);
}

// A recording is played up to where its receiver was tuned to another frequency, or where bytes
// that are no samples lie between.
static bool take_captures(struct fm_sigmf *sigmf, yyjson_val *captures, char *why)
{
    size_t i, n;
    yyjson_val *capture;

    yyjson_arr_foreach(captures, i, n, capture)
    {
        const double frequency = number(capture, "core:frequency");
        const double start = number(capture, "core:sample_start");
        uint64_t header_bytes;

        if (!take_bytes(capture, "core:header_bytes", &header_bytes, why))
            return false;
        if (i == 0) {
            sigmf->centre_hz = frequency;
            sigmf->header_bytes = header_bytes;
        } else if ((frequency != sigmf->centre_hz || header_bytes > 0) && start >= 1 &&
                   start < 1e15) {
            sigmf->samples = (uint64_t)start;
            break;
        }
    }
    return true;
}

static bool take(struct fm_sigmf *sigmf, yyjson_val *root, char *why)
{
    yyjson_val *global = yyjson_obj_get(root, "global");

    if (!yyjson_is_obj(global)) {
        snprintf(why, FM_SIGMF_WHY_BYTES,
                 "it has no object \"global\": it is no SigMF, correct it");
        return false;
    }
    return take_global(sigmf, global, why) &&
           take_captures(sigmf, yyjson_obj_get(root, "captures"), why);
}

bool fm_sigmf_read(struct fm_sigmf *sigmf, const char *text, size_t bytes,
                   char why[FM_SIGMF_WHY_BYTES])
{
    const size_t room = yyjson_read_max_memory_usage(bytes, YYJSON_READ_NOFLAG);
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    yyjson_read_err error;
    yyjson_alc pool;
    bool done = false;

    why[0] = '\0';
    *sigmf = (struct fm_sigmf){ 0 };
    if (memory == MAP_FAILED) {
        snprintf(why, FM_SIGMF_WHY_BYTES, "there is no memory for it: leave out its annotations");
        return false;
    }
    yyjson_alc_pool_init(&pool, memory, room);
    // Without the flag to read in place, the text stays as it is.
    yyjson_doc *document =
        yyjson_read_opts((char *)(uintptr_t)text, bytes, YYJSON_READ_NOFLAG, &pool, &error);
    if (document)
        done = take(sigmf, yyjson_doc_get_root(document), why);
    else
        snprintf(why, FM_SIGMF_WHY_BYTES, "it is no JSON at byte %zu (%.50s): correct it",
                 error.pos, error.msg);
    munmap(memory, room);
    return done;
}

bool fm_sigmf_load(struct fm_sigmf *sigmf, int fd, uint64_t bytes, char why[FM_SIGMF_WHY_BYTES])
{
    void *text =
        bytes <= BYTES_MAX ? mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

    if (text == MAP_FAILED) {
        snprintf(why, FM_SIGMF_WHY_BYTES, "it is too large: leave out its annotations");
        return false;
    }
    const bool done = fm_sigmf_read(sigmf, text, (size_t)bytes, why);
    munmap(text, (size_t)bytes);
    return done;
}
