// SPDX-License-Identifier: Apache-2.0
// For a board, which has no reader of JSON.
#include <stdio.h>

#include "sigmf.h"

bool fm_sigmf_load(struct fm_sigmf *sigmf, int fd, uint64_t bytes, char why[FM_SIGMF_WHY_BYTES])
{
    (void)fd;
    (void)bytes;
    *sigmf = (struct fm_sigmf){ 0 };
    snprintf(why, FM_SIGMF_WHY_BYTES, "a board reads no SigMF: give its data, and set format");
    return false;
}
