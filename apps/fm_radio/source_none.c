// SPDX-License-Identifier: Apache-2.0
// For a radio that is built where SoapySDR is not installed.
#include <stdio.h>

#include "source.h"

struct fm_soapy *fm_soapy_open(const char *arguments, const struct fm_tuning *tuning,
                               char why[FM_WHY_BYTES])
{
    (void)tuning;
    snprintf(
        why, FM_WHY_BYTES,
        "input \"soapy://%.60s\" cannot be used without SoapySDR: install libsoapysdr-dev, and "
        "build again",
        arguments);
    return NULL;
}

int64_t fm_soapy_read(struct fm_soapy *soapy, void *samples, uint32_t most, uint32_t *overruns,
                      char why[FM_WHY_BYTES])
{
    (void)soapy;
    (void)samples;
    (void)most;
    (void)overruns;
    snprintf(why, FM_WHY_BYTES, "there is no receiver");
    return -1;
}

void fm_soapy_close(struct fm_soapy *soapy)
{
    (void)soapy;
}
