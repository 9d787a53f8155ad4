// SPDX-License-Identifier: Apache-2.0
#include "cutter.h"

#include <assert.h>
#include <string.h>

void fm_cutter_init(struct fm_cutter *cutter, uint32_t group_bytes)
{
    assert(group_bytes >= 1 && FM_BLOCK * group_bytes <= sizeof cutter->stage);
    memset(cutter, 0, sizeof *cutter);
    cutter->group_bytes = group_bytes;
}

void fm_cutter_skip(struct fm_cutter *cutter, uint32_t bytes)
{
    assert(bytes < cutter->group_bytes);
    cutter->buffered = bytes;
}

static const unsigned char *take(struct fm_span *piece, uint32_t bytes)
{
    const unsigned char *at = piece->at;

    piece->at += bytes;
    piece->bytes -= bytes;
    return at;
}

const unsigned char *fm_cutter_next(struct fm_cutter *cutter, struct fm_span *piece,
                                    uint32_t *groups)
{
    const uint32_t block_bytes = FM_BLOCK * cutter->group_bytes;

    if (cutter->buffered == 0 && piece->bytes >= block_bytes) {
        *groups = FM_BLOCK;
        return take(piece, block_bytes);
    }

    const uint32_t room = block_bytes - cutter->buffered;
    const uint32_t fresh = piece->bytes < room ? piece->bytes : room;

    memmove(cutter->stage, cutter->stage + cutter->consumed, cutter->buffered);
    memcpy(cutter->stage + cutter->buffered, take(piece, fresh), fresh);
    cutter->buffered += fresh;
    *groups = cutter->buffered / cutter->group_bytes;
    cutter->consumed = *groups * cutter->group_bytes;
    cutter->buffered -= cutter->consumed;
    return *groups > 0 ? cutter->stage : NULL;
}
