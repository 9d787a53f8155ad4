// SPDX-License-Identifier: Apache-2.0
// SigMF: the file NAME.sigmf-meta says in JSON what NAME.sigmf-data has.
#ifndef FM_SIGMF_H
#define FM_SIGMF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

enum { FM_SIGMF_WHY_BYTES = 128, FM_SIGMF_NAME_BYTES = 256 };

struct fm_sigmf {
    struct fm_format format;
    double rate;                            // samples in a second; 0: not said
    double centre_hz;                       // of the first capture; 0: not said
    uint64_t header_bytes, trailing_bytes;  // of the data that are no samples
    uint64_t samples;                       // in front of another frequency; 0: there is none
    char dataset[FM_SIGMF_NAME_BYTES];      // the name of the data; "": as it usually is
};

/// Reads a description.
///
/// Context: any. Never blocks. Its memory is the system's, not an application's heap.
/// Returns: false, with the reason and what helps in `why`, for what cannot be played.
bool fm_sigmf_read(struct fm_sigmf *sigmf, const char *text, size_t bytes,
                   char why[FM_SIGMF_WHY_BYTES]);

/// The same of an open file of so many bytes.
///
/// Context: as fm_sigmf_read(); blocks as a file does.
bool fm_sigmf_load(struct fm_sigmf *sigmf, int fd, uint64_t bytes, char why[FM_SIGMF_WHY_BYTES]);

#endif
