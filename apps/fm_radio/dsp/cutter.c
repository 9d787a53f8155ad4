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
    cutter->held = bytes;
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

    if (cutter->held == 0 && piece->bytes >= block_bytes) {
        *groups = FM_BLOCK;
        return take(piece, block_bytes);
    }

    const uint32_t room = block_bytes - cutter->held;
    const uint32_t fresh = piece->bytes < room ? piece->bytes : room;

    memmove(cutter->stage, cutter->stage + cutter->held_at, cutter->held);
    memcpy(cutter->stage + cutter->held, take(piece, fresh), fresh);
    cutter->held += fresh;
    *groups = cutter->held / cutter->group_bytes;
    cutter->held_at = *groups * cutter->group_bytes;
    cutter->held -= cutter->held_at;
    return *groups > 0 ? cutter->stage : NULL;
}
