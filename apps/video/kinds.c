// SPDX-License-Identifier: Apache-2.0
#include "kinds.h"

#include <stdio.h>
#include <string.h>

// Names of four letters, one after the other.
static const char motion_jpeg[] =
    "MJPGJPEGAVRNAVDJDMB1MJPAIJPGACDVQIVGSLMJCJPGJPGLMTSJZJPGMMJPMVJPAVI1AVI2JFIFJR24MJPX";

static const struct video {
    const char *codecs, *name;
} videos[] = {
    { "H264X264AVC1DAVCVSSHQ264", "H.264" },
    { "HEVCH265HEV1HVC1X265", "H.265" },
    { "XVIDDIVXDX50FMP4MP4VMP4SM4S2FVFW3IV2RMP4SEDG", "MPEG-4 part 2" },
    { "DIV3DIV4DIV5DIV6MP43MP42MP41MPG4COL1AP41", "MPEG-4 of Microsoft" },
    { "DVSDDVHDDVSLDV25DV50DVH1CDVCDVCSDVCPSL25", "DV" },
    { "MPEGMPG1MPG2MPG3PIM1MMES", "MPEG-1 or MPEG-2" },
    { "YUY2YUYVUYVYYVYUI420IYUVYV12NV12NV21Y800GREY", "uncompressed YUV" },
    { "DIB RGB RAW ", "uncompressed RGB" },
    { "WMV1WMV2WMV3WVC1WMVA", "Windows Media Video" },
    { "VP80VP90AV01VP31VP60VP61VP62", "VP8, VP9 or a relative" },
    { "MJ2CMJP2LJ2KIPJ2", "JPEG 2000" },
    { "LJPGMJLS", "lossless JPEG" },
    { "FFV1HFYUFFVHLAGSULRGULY0ULY2ZLIBMSZH", "lossless video" },
    { "CVIDIV31IV32IV41IV50MSVCCRAMMRLEH261H263I263U263S263", "an old codec" },
};

static const struct magic {
    size_t at;
    const char *bytes;
    size_t n;
    const char *says;
} magics[] = {
    { 4, "ftyp", 4, "it is an MP4 or MOV file, not AVI" },
    { 4, "moov", 4, "it is a MOV file, not AVI" },
    { 4, "mdat", 4, "it is a MOV file, not AVI" },
    { 4, "wide", 4, "it is a MOV file, not AVI" },
    { 0, "\x1a\x45\xdf\xa3", 4, "it is a Matroska or WebM file, not AVI" },
    { 8, "WAVE", 4, "it is a WAV file, which has sound only, not AVI" },
    { 0, "OggS", 4, "it is an Ogg file, not AVI" },
    { 0, "FLV", 3, "it is a Flash video, not AVI" },
    { 0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", 8, "it is a Windows Media file (ASF), not AVI" },
    { 0, "\0\0\1\xba", 4, "it is an MPEG program stream, not AVI" },
    { 0, "\0\0\1\xb3", 4, "it is an MPEG video stream, not AVI" },
    { 0, "\0\0\0\1", 4, "it is a raw stream of H.264 or H.265, not AVI" },
    { 188, "\x47", 1, "it is an MPEG transport stream, not AVI" },
    { 0, "\x1f\x07\0", 3, "it is raw DV, not AVI" },
    { 0, "\xff\xd8\xff", 3, "it is JPEG pictures without a container, not AVI" },
    { 0, "YUV4MPEG2", 9, "it is uncompressed YUV4MPEG2, not AVI" },
    { 0, "GIF8", 4, "it is a GIF picture, not AVI" },
    { 0, "\x89PNG", 4, "it is a PNG picture, not AVI" },
};

static uint8_t upper(uint8_t letter)
{
    return letter >= 'a' && letter <= 'z' ? (uint8_t)(letter - 'a' + 'A') : letter;
}

bool kind_is(const uint8_t *letters, const char *wanted)
{
    for (int i = 0; i < 4; i++)
        if (upper(letters[i]) != (uint8_t)wanted[i])
            return false;
    return true;
}

static bool is_one_of(const uint8_t *codec, const char *codecs)
{
    for (; *codecs != '\0'; codecs += 4)
        if (kind_is(codec, codecs))
            return true;
    return false;
}

bool kind_is_motion_jpeg(const uint8_t *codec)
{
    return is_one_of(codec, motion_jpeg);
}

bool kind_of_video(const uint8_t *codec, char name[KIND_NAME_BYTES])
{
    for (size_t i = 0; i < sizeof videos / sizeof *videos; i++)
        if (is_one_of(codec, videos[i].codecs)) {
            snprintf(name, KIND_NAME_BYTES, "%s (%.4s)", videos[i].name, (const char *)codec);
            return true;
        }
    // Numbers of a bitmap's compression: none, runs, masks.
    if (codec[0] <= 3 && codec[1] == 0 && codec[2] == 0 && codec[3] == 0) {
        snprintf(name, KIND_NAME_BYTES, "uncompressed RGB");
        return true;
    }
    char letters[5] = "";
    for (int i = 0; i < 4; i++)
        letters[i] = codec[i] >= ' ' && codec[i] <= '~' ? (char)codec[i] : '?';
    snprintf(name, KIND_NAME_BYTES, "of an unknown kind, \"%s\"", letters);
    return false;
}

const char *kind_of_file(const uint8_t *file, size_t bytes)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const struct magic *magic = &magics[i];

        if (bytes >= magic->at + magic->n &&
            memcmp(file + magic->at, magic->bytes, magic->n) == 0 &&
            (magic->at < 188 || file[0] == 0x47))
            return magic->says;
    }
    return "it is not an AVI file";
}
