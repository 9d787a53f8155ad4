// SPDX-License-Identifier: Apache-2.0
#include "sigmf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "yyjson.h"

enum { COUNT_MAX = 1 << 30 };

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
                 "its core:dataset is \"%.40s\": give the name of a file beside it", dataset);
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

bool fm_sigmf_read(struct fm_sigmf *sigmf, const char *text, size_t bytes,
                   char why[FM_SIGMF_WHY_BYTES])
{
    yyjson_read_err error;
    yyjson_doc *document =
        yyjson_read_opts((char *)(uintptr_t)text, bytes, YYJSON_READ_NOFLAG, NULL, &error);
    yyjson_val *global = yyjson_obj_get(yyjson_doc_get_root(document), "global");

    why[0] = '\0';
    *sigmf = (struct fm_sigmf){ 0 };
    if (!document)
        snprintf(why, FM_SIGMF_WHY_BYTES, "it is no JSON at byte %zu (%.50s): correct it",
                 error.pos, error.msg);
    else if (!yyjson_is_obj(global))
        snprintf(why, FM_SIGMF_WHY_BYTES,
                 "it has no object \"global\": it is no SigMF, correct it");
    const bool done =
        why[0] == '\0' && take_global(sigmf, global, why) &&
        take_captures(sigmf, yyjson_obj_get(yyjson_doc_get_root(document), "captures"), why);
    yyjson_doc_free(document);
    return done;
}
