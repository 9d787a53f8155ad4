// SPDX-License-Identifier: Apache-2.0
#include <SoapySDR/Device.h>
#include <SoapySDR/Errors.h>
#include <SoapySDR/Formats.h>
#include <SoapySDR/Logger.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "source.h"

enum { WAIT_US = 100000 };

struct fm_soapy {
    SoapySDRDevice *device;
    SoapySDRStream *stream;
};

static bool tune(SoapySDRDevice *device, const struct fm_tuning *tuning)
{
    if (SoapySDRDevice_setSampleRate(device, SOAPY_SDR_RX, 0, tuning->rate) != 0 ||
        SoapySDRDevice_setFrequency(device, SOAPY_SDR_RX, 0, tuning->centre_hz, NULL) != 0)
        return false;
    if (!isnan(tuning->gain_db))
        return SoapySDRDevice_setGain(device, SOAPY_SDR_RX, 0, tuning->gain_db) == 0;
    return !SoapySDRDevice_hasGainMode(device, SOAPY_SDR_RX, 0) ||
           SoapySDRDevice_setGainMode(device, SOAPY_SDR_RX, 0, true) == 0;
}

static bool start(struct fm_soapy *soapy)
{
    const size_t channel = 0;

    soapy->stream =
        SoapySDRDevice_setupStream(soapy->device, SOAPY_SDR_RX, SOAPY_SDR_CF32, &channel, 1, NULL);
    return soapy->stream &&
           SoapySDRDevice_activateStream(soapy->device, soapy->stream, 0, 0, 0) == 0;
}

struct fm_soapy *fm_soapy_open(const char *arguments, const struct fm_tuning *tuning,
                               char why[FM_WHY_BYTES])
{
    struct fm_soapy *soapy = calloc(1, sizeof *soapy);

    SoapySDR_setLogLevel(SOAPY_SDR_FATAL);
    if (soapy)
        soapy->device = SoapySDRDevice_makeStrArgs(arguments);
    if (soapy && soapy->device && tune(soapy->device, tuning) && start(soapy)) {
        const double rate = SoapySDRDevice_getSampleRate(soapy->device, SOAPY_SDR_RX, 0);

        if (fabs(rate - tuning->rate) < 1)
            return soapy;
        snprintf(why, FM_WHY_BYTES,
                 "sample_rate is %.0f, which the receiver \"%.60s\" does not have: set %.0f",
                 tuning->rate, arguments, rate);
    } else {
        snprintf(why, FM_WHY_BYTES,
                 "input \"soapy://%.60s\" cannot be used: %.80s: `SoapySDRUtil --find` lists the "
                 "receivers",
                 arguments, SoapySDRDevice_lastError());
    }
    if (soapy)
        fm_soapy_close(soapy);
    return NULL;
}

int64_t fm_soapy_read(struct fm_soapy *soapy, void *samples, uint32_t most, uint32_t *overruns,
                      char why[FM_WHY_BYTES])
{
    void *buffers[] = { samples };
    long long time_ns;
    int flags = 0;
    const int n = SoapySDRDevice_readStream(soapy->device, soapy->stream, buffers, most, &flags,
                                            &time_ns, WAIT_US);

    if (n >= 0)
        return n;
    *overruns += n == SOAPY_SDR_OVERFLOW;
    if (n == SOAPY_SDR_OVERFLOW || n == SOAPY_SDR_TIMEOUT)
        return 0;
    snprintf(why, FM_WHY_BYTES, "the receiver failed: %s", SoapySDR_errToStr(n));
    return -1;
}

void fm_soapy_close(struct fm_soapy *soapy)
{
    if (soapy->stream) {
        SoapySDRDevice_deactivateStream(soapy->device, soapy->stream, 0, 0);
        SoapySDRDevice_closeStream(soapy->device, soapy->stream);
    }
    if (soapy->device)
        SoapySDRDevice_unmake(soapy->device);
    free(soapy);
}
