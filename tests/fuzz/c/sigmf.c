// SPDX-License-Identifier: Apache-2.0
// The description of a recording in SigMF.
#include "fm_radio/dsp/sigmf.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char why[FM_SIGMF_WHY_BYTES];
    struct fm_sigmf sigmf;
    char *text = text_of(data, bytes);

    if (fm_sigmf_read(&sigmf, text, bytes, why)) {
        MUST(sigmf.format.bytes >= 1 && sigmf.format.bytes <= 8);
        MUST(sigmf.rate >= 0 && sigmf.centre_hz >= 0);
        MUST(memchr(sigmf.dataset, '\0', sizeof sigmf.dataset) && !strchr(sigmf.dataset, '/'));
    } else {
        MUST(why[0] != '\0' && memchr(why, '\0', sizeof why));
    }
    free(text);
    return 0;
}
