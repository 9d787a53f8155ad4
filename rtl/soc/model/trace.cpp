// SPDX-License-Identifier: Apache-2.0
// Traces of what each core runs, as VCD and in the JSON that Perfetto reads.
#include "trace.h"

namespace
{

constexpr double us_per_cycle = 0.1;
// Of the counters; without a name: what the slice itself says.
constexpr const char *names[] = { nullptr,        "data hits", "data misses",
                                  "fetch misses", "bus waits", "store waits" };

class Vcd : public Trace
{
  public:
    Vcd(std::FILE *file, unsigned cores) : file_(file)
    {
        std::fputs("$timescale 100 ns $end\n", file);
        for (unsigned c = 0; c < cores; c++)
            std::fprintf(file,
                         "$scope module core_%u $end\n$var string 1 r%u running $end\n"
                         "$var event 1 s%u schedules $end\n$upscope $end\n",
                         c, c, c);
        std::fputs("$enddefinitions $end\n", file);
    }

    void runs(uint64_t cycle, unsigned core, const std::string &what, const Counts &) override
    {
        at(cycle);
        std::string word = what;
        for (char &byte : word)
            byte = byte == ' ' ? '_' : byte;
        std::fprintf(file_, "s%s r%u\n", word.c_str(), core);
    }

    void chose(uint64_t cycle, unsigned core) override
    {
        at(cycle);
        std::fprintf(file_, "1s%u\n", core);
    }

    void end(uint64_t cycle, const std::vector<Counts> &) override
    {
        at(cycle);
    }

  private:
    void at(uint64_t cycle)
    {
        if (first_ || cycle != cycle_)
            std::fprintf(file_, "#%llu\n", static_cast<unsigned long long>(cycle));
        cycle_ = cycle;
        first_ = false;
    }

    std::FILE *file_;
    uint64_t cycle_ = 0;
    bool first_ = true;
};

class Perfetto : public Trace
{
  public:
    Perfetto(std::FILE *file, unsigned cores) : file_(file), since_(cores), what_(cores)
    {
        std::fputs("{\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\","
                   "\"args\":{\"name\":\"SoC\"}}",
                   file);
        for (unsigned c = 0; c < cores; c++) {
            name(c, "core ", c);
            name(cores + c, "scheduling module ", c);
        }
    }

    void runs(uint64_t cycle, unsigned core, const std::string &what, const Counts &counts) override
    {
        close(cycle, core, counts);
        since_[core] = cycle;
        what_[core] = what;
    }

    void chose(uint64_t cycle, unsigned core) override
    {
        slice(static_cast<unsigned>(what_.size()) + core, "chooses", cycle, 1, "");
    }

    void end(uint64_t cycle, const std::vector<Counts> &counts) override
    {
        for (unsigned c = 0; c < what_.size(); c++)
            close(cycle, c, counts[c]);
        std::fputs("\n]}\n", file_);
    }

  private:
    void name(unsigned track, const char *what, unsigned number)
    {
        std::fprintf(file_,
                     ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\","
                     "\"args\":{\"name\":\"%s%u\"}}",
                     track, what, number);
    }

    void close(uint64_t cycle, unsigned core, const Counts &counts)
    {
        if (what_[core].empty() || what_[core] == "idle")
            return;
        std::string args;
        for (size_t i = 0; i < counts.size(); i++)
            if (names[i] != nullptr)
                args += (args.empty() ? ",\"args\":{\"" : ",\"") + std::string(names[i]) +
                        "\":" + std::to_string(counts[i]);
        slice(core, what_[core], since_[core], cycle - since_[core], args + "}");
    }

    void slice(unsigned track, const std::string &what, uint64_t begin, uint64_t cycles,
               const std::string &args)
    {
        std::fprintf(file_,
                     ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%.1f,\"dur\":%.1f,"
                     "\"name\":\"%s\"%s}",
                     track, static_cast<double>(begin) * us_per_cycle,
                     static_cast<double>(cycles) * us_per_cycle, what.c_str(), args.c_str());
    }

    std::FILE *file_;
    std::vector<uint64_t> since_;
    std::vector<std::string> what_;
};

}  // namespace

std::unique_ptr<Trace> vcd_trace(std::FILE *file, unsigned cores)
{
    return std::make_unique<Vcd>(file, cores);
}

std::unique_ptr<Trace> perfetto_trace(std::FILE *file, unsigned cores)
{
    return std::make_unique<Perfetto>(file, cores);
}

void Watch::see(uint64_t cycle, unsigned core, int task, bool asleep, bool chose, unsigned events)
{
    const int runs = task + 2;  // 1 is no task
    if (runs != runs_[core] || asleep != asleep_[core]) {
        const std::string what = asleep     ? "asleep"
                                 : task < 0 ? "idle"
                                            : "task " + std::to_string(task);
        for (auto &trace : traces_)
            trace->runs(cycle, core, what, counts_[core]);
        counts_[core] = {};
        runs_[core] = runs;
        asleep_[core] = asleep;
    }
    for (; events != 0; events &= events - 1)
        counts_[core][static_cast<unsigned>(__builtin_ctz(events))]++;
    if (chose)
        for (auto &trace : traces_)
            trace->chose(cycle, core);
}

void Watch::end(uint64_t cycle)
{
    for (auto &trace : traces_)
        trace->end(cycle, counts_);
}
