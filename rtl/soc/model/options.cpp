// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <string>

static const char usage[] =
    "usage: whimbrel-soc [options] IMAGE.elf\n"
    "Runs a program on the model of the SoC. Its serial line is descriptor 3 if that is open,\n"
    "else standard input and output. What it writes to its\n"
    "console comes on standard error. Exits with its code; 124 when --cycles ended it.\n"
    "  --wait-states N       of the RAM, 0 to 255 (4)\n"
    "  --cycles N            ends the simulation after so many\n"
    "  --store-order KIND    strict: a load waits for all earlier stores; tso: only for those to\n"
    "                        its line, and a read of a device is a fence (tso)\n"
    "  --no-dcache           data is not cached\n"
    "  --no-dcache-snoop     data caches do not see what other cores write\n"
    "  --uncached FIRST:LAST addresses that are not cached\n"
    "  --host-files          lets the program create and write files of this machine\n"
    "  --vcd FILE            writes what each core runs, for GTKWave\n"
    "  --perfetto FILE       the same for ui.perfetto.dev\n"
    "  --speed               prints the cycles, and how many of them a second of the processor\n"
    "                        takes, at the end\n";

[[noreturn]] static void refuse(const char *what, const char *text)
{
    std::fprintf(stderr, "whimbrel-soc: %s '%s'; whimbrel-soc --help lists the options\n", what,
                 text);
    std::exit(2);
}

static uint64_t number(const char *text, uint64_t most)
{
    char *end;
    const uint64_t value = std::strtoull(text, &end, 0);
    if (end == text || *end != '\0' || value > most)
        refuse("not a number in its range:", text);
    return value;
}

static bool strict_order(const char *text)
{
    const std::string kind = text;
    if (kind != "strict" && kind != "tso")
        refuse("neither strict nor tso:", text);
    return kind == "strict";
}

static void set_uncached(Options &options, const std::string &range)
{
    const size_t colon = range.find(':');
    if (colon == std::string::npos)
        refuse("not FIRST:LAST:", range.c_str());
    options.uncached_first = number(range.substr(0, colon).c_str(), UINT32_MAX);
    options.uncached_last = number(range.substr(colon + 1).c_str(), UINT32_MAX);
}

static void set_option(Options &options, int key)
{
    switch (key) {
    case 'w':
        options.wait_states = number(optarg, 255);
        break;
    case 'c':
        options.cycles = number(optarg, UINT64_MAX);
        break;
    case 'o':
        options.strict = strict_order(optarg);
        break;
    case 'd':
        options.dcache = false;
        break;
    case 's':
        options.snooping = false;
        break;
    case 'u':
        set_uncached(options, optarg);
        break;
    case 'H':
        options.host_files = true;
        break;
    case 'v':
        options.vcd = optarg;
        break;
    case 'f':
        options.perfetto = optarg;
        break;
    case 'p':
        options.speed = true;
        break;
    case 'h':
        std::fputs(usage, stdout);
        std::exit(0);
    default:
        std::fputs("whimbrel-soc --help lists the options\n", stderr);
        std::exit(2);
    }
}

Options parse_options(int argc, char **argv)
{
    static const option known[] = { { "wait-states", required_argument, nullptr, 'w' },
                                    { "cycles", required_argument, nullptr, 'c' },
                                    { "store-order", required_argument, nullptr, 'o' },
                                    { "no-dcache", no_argument, nullptr, 'd' },
                                    { "no-dcache-snoop", no_argument, nullptr, 's' },
                                    { "uncached", required_argument, nullptr, 'u' },
                                    { "host-files", no_argument, nullptr, 'H' },
                                    { "vcd", required_argument, nullptr, 'v' },
                                    { "perfetto", required_argument, nullptr, 'f' },
                                    { "speed", no_argument, nullptr, 'p' },
                                    { "help", no_argument, nullptr, 'h' },
                                    {} };
    Options options;
    int key;
    while ((key = getopt_long(argc, argv, "h", known, nullptr)) != -1)
        set_option(options, key);
    if (optind != argc - 1) {
        std::fputs("whimbrel-soc: one image is needed; whimbrel-soc --help\n", stderr);
        std::exit(2);
    }
    options.image = argv[optind];
    return options;
}
