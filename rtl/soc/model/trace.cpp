// SPDX-License-Identifier: Apache-2.0
// Traces of what each core runs, as VCD and in the JSON that Perfetto reads.
#include "trace.h"

namespace
{

constexpr double us_per_cycle = 0.1;

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

    void runs(uint64_t cycle, unsigned core, const std::string &what) override
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

    void end(uint64_t cycle) override
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

    void runs(uint64_t cycle, unsigned core, const std::string &what) override
    {
        close(cycle, core);
        since_[core] = cycle;
        what_[core] = what;
    }

    void chose(uint64_t cycle, unsigned core) override
    {
        slice(static_cast<unsigned>(what_.size()) + core, "chooses", cycle, 1);
    }

    void end(uint64_t cycle) override
    {
        for (unsigned c = 0; c < what_.size(); c++)
            close(cycle, c);
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

    void close(uint64_t cycle, unsigned core)
    {
        if (!what_[core].empty() && what_[core] != "idle")
            slice(core, what_[core], since_[core], cycle - since_[core]);
    }

    void slice(unsigned track, const std::string &what, uint64_t begin, uint64_t cycles)
    {
        std::fprintf(file_,
                     ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%.1f,\"dur\":%.1f,"
                     "\"name\":\"%s\"}",
                     track, static_cast<double>(begin) * us_per_cycle,
                     static_cast<double>(cycles) * us_per_cycle, what.c_str());
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

void Watch::see(uint64_t cycle, unsigned core, int task, bool asleep, bool chose)
{
    const int runs = task + 2;  // 1 is no task
    if (runs != runs_[core] || asleep != asleep_[core]) {
        const std::string what = asleep     ? "asleep"
                                 : task < 0 ? "idle"
                                            : "task " + std::to_string(task);
        for (auto &trace : traces_)
            trace->runs(cycle, core, what);
        runs_[core] = runs;
        asleep_[core] = asleep;
    }
    if (chose)
        for (auto &trace : traces_)
            trace->chose(cycle, core);
}

void Watch::end(uint64_t cycle)
{
    for (auto &trace : traces_)
        trace->end(cycle);
}
