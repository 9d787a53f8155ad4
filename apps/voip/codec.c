// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "codec.h"

#include <string.h>
#include <strings.h>

const struct codec *const codecs[CODECS] = { &codec_pcmu, &codec_pcma, &codec_opus, &codec_g722 };

int codec_find(const char *name, size_t length)
{
    for (int i = 0; i < CODECS; i++)
        if (codecs[i] && strlen(codecs[i]->name) == length &&
            strncasecmp(codecs[i]->name, name, length) == 0)
            return i;
    return -1;
}
