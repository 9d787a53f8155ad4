// SPDX-License-Identifier: Apache-2.0
// Runs a program on the model of the SoC.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "Vsoc.h"
#include "Vsoc___024root.h"
#include "host.h"
#include "image.h"
#include "line.h"
#include "options.h"
#include "trace.h"

static constexpr uint32_t ram_base = 0x80000000;
static constexpr uint64_t poll_cycles = 1024;
static constexpr int out_of_cycles = 124;

/// What standard input or the socket has for the SoC is handed over where the line can take a byte.
static void drive_line(Vsoc &soc, Line &line)
{
    if (soc.tx_valid_o)
        line.send(soc.tx_data_o);
    soc.rx_valid_i = 0;
    uint8_t byte;
    if (soc.rx_ready_o && line.receive(byte)) {
        soc.rx_data_i = byte;
        soc.rx_valid_i = 1;
    }
}

/// A cycle; the inputs were set after the one before.
static void step(Vsoc &soc)
{
    soc.clk_i = 0;
    soc.eval();
    soc.clk_i = 1;
    soc.eval();
}

static void reset(Vsoc &soc, const Options &options)
{
    soc.wait_states_i = options.wait_states;
    soc.dcache_on_i = options.dcache;
    soc.snooping_i = options.snooping;
    soc.strict_i = options.strict;
    soc.uncached_first_i = options.uncached_first;
    soc.uncached_last_i = options.uncached_last;
    soc.rst_ni = 1;
    soc.eval();
    soc.rst_ni = 0;
    step(soc);
    step(soc);
    soc.rst_ni = 1;
}

using TraceMaker = std::unique_ptr<Trace>(std::FILE *file, unsigned cores);

/// Exits with 2 and a line on standard error if the file cannot be written.
static void open_trace(Watch &watch, const char *path, TraceMaker *make, unsigned cores)
{
    if (path == nullptr)
        return;
    std::FILE *file = std::fopen(path, "w");
    if (file == nullptr) {
        std::fprintf(stderr, "whimbrel-soc: %s cannot be written: is its folder there?\n", path);
        std::exit(2);
    }
    watch.add(make(file, cores));
}

static void watch_cores(const Vsoc &soc, Watch &watch, uint64_t cycle)
{
    for (unsigned c = 0; c < soc.num_cores_o; c++) {
        const int task = soc.running_o >> c & 1 ? soc.task_o >> 8 * c & 0xff : -1;
        watch.see(cycle, c, task, soc.asleep_o >> c & 1, soc.chose_o >> c & 1,
                  soc.events_o >> 6 * c & 0x3f);
    }
}

/// Until the program ends, the other side of the line does, or there are no cycles left.
static int run(Vsoc &soc, Line &line, Host &host, Watch &watch, uint64_t cycles, uint64_t &done)
{
    for (done = 0; done < cycles; done++) {
        if (done % poll_cycles == 0) {
            line.poll();
            if (line.closed())
                return 0;
        }
        step(soc);
        drive_line(soc, line);
        if (!watch.empty())
            watch_cores(soc, watch, done);
        if (soc.console_o)
            std::fputc(soc.console_byte_o, stderr);
        if (soc.host_o)
            soc.host_answer_i = static_cast<uint32_t>(host.answer(soc.host_request_o));
        if (soc.exit_o)
            return static_cast<int>(soc.exit_code_o & 0xff);
    }
    return out_of_cycles;
}

int main(int argc, char **argv)
{
    const Options options = parse_options(argc, argv);
    const auto soc = std::make_unique<Vsoc>();
    auto &ram = soc->rootp->soc__DOT__u_ram__DOT__words;
    const std::string wrong = load_image(options.image, &ram[0], ram_base, sizeof ram);
    if (!wrong.empty()) {
        std::fprintf(stderr, "%s: %s\n", options.image, wrong.c_str());
        return 2;
    }
    reset(*soc, options);
    Line line;
    Host host(&ram[0], ram_base, sizeof ram, options.host_files);
    std::setvbuf(stderr, nullptr, _IOLBF, BUFSIZ);
    Watch watch(soc->num_cores_o);
    open_trace(watch, options.vcd, vcd_trace, soc->num_cores_o);
    open_trace(watch, options.perfetto, perfetto_trace, soc->num_cores_o);
    uint64_t cycles;
    const std::clock_t begin = std::clock();
    const int code = run(*soc, line, host, watch, options.cycles, cycles);
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    line.flush();
    watch.end(cycles);
    if (options.speed)
        std::fprintf(stderr, "%llu cycles, %.0f kHz\n", static_cast<unsigned long long>(cycles),
                     static_cast<double>(cycles) / took / 1e3);
    return code;
}
