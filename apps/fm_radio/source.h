// SPDX-License-Identifier: Apache-2.0
// What a live source is: samples from a descriptor, or from a receiver by SoapySDR.
#ifndef FM_SOURCE_H
#define FM_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "dsp/config.h"
#include "dsp/format.h"

enum { FM_STALL_MS = 5000 };  // a receiver that sends nothing for so long has failed

// What a receiver is told.
struct fm_tuning {
    double rate;
    double centre_hz;  // 0: as it is
    double gain_db;    // NAN: its own choice
};

/// Connects to an rtl_tcp server at HOST:PORT, and tunes it.
///
/// Context: the launcher. Blocks up to FM_STALL_MS for each answer.
/// Returns: a descriptor that gives cu8; -1 with the reason in `why`.
int fm_rtl_tcp_open(const char *address, const struct fm_tuning *tuning, char why[FM_WHY_BYTES]);

struct fm_soapy;

/// Opens a receiver by SoapySDR's arguments for it, such as "driver=rtlsdr", and tunes it.
///
/// Context: the launcher. Blocks as the driver does.
/// Returns: the receiver, which gives cf32; NULL with the reason in `why`.
struct fm_soapy *fm_soapy_open(const char *arguments, const struct fm_tuning *tuning,
                               char why[FM_WHY_BYTES]);

/// Reads samples. What the driver has lost before them is counted in `*overruns`.
///
/// Context: one thread. Blocks up to 100 ms.
/// Returns: how many, 0 where none came; -1 with the reason in `why`.
int64_t fm_soapy_read(struct fm_soapy *soapy, void *samples, uint32_t most, uint32_t *overruns,
                      char why[FM_WHY_BYTES]);

/// Context: the launcher, after the thread. Blocks as the driver does.
void fm_soapy_close(struct fm_soapy *soapy);

#endif
