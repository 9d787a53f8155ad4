// SPDX-License-Identifier: Apache-2.0
// What the command line says.
#ifndef OPTIONS_H
#define OPTIONS_H

#include <cstdint>

struct Options {
    const char *image = nullptr;
    const char *vcd = nullptr, *perfetto = nullptr;
    uint64_t cycles = UINT64_MAX;
    unsigned wait_states = 4;
    bool dcache = true, snooping = true, strict = false;
    uint32_t uncached_first = 1, uncached_last = 0;
    bool speed = false;
    bool host_files = false;
};

/// Exits with 2 and a line on standard error if the command line cannot be understood.
Options parse_options(int argc, char **argv);

#endif
