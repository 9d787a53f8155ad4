// SPDX-License-Identifier: Apache-2.0
// Writes what each core runs, cycle by cycle.
#ifndef TRACE_H
#define TRACE_H

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

/// How often each event of enum soc_counter came while a core did one thing.
using Counts = std::array<uint32_t, 6>;

/// A file in the format of a viewer. Time is in cycles, of 100 ns in the file.
class Trace
{
  public:
    virtual ~Trace() = default;
    /// From this cycle on a core does something else: a task, or what it is without one. `counts`
    /// are of what it has done until then.
    virtual void runs(uint64_t cycle, unsigned core, const std::string &what,
                      const Counts &counts) = 0;
    /// The scheduling module of a core has chosen a task.
    virtual void chose(uint64_t cycle, unsigned core) = 0;
    /// The end of the trace; nothing comes behind it. Counts of each core.
    virtual void end(uint64_t cycle, const std::vector<Counts> &counts) = 0;
};

/// For GTKWave: a scope for each core, with its task by name and a pulse for each choice.
std::unique_ptr<Trace> vcd_trace(std::FILE *file, unsigned cores);
/// For ui.perfetto.dev: a track for each core, and one for each scheduling module.
std::unique_ptr<Trace> perfetto_trace(std::FILE *file, unsigned cores);

/// Tells traces what changes.
class Watch
{
  public:
    explicit Watch(unsigned cores) : runs_(cores), asleep_(cores), counts_(cores) {}

    bool empty() const
    {
        return traces_.empty();
    }
    void add(std::unique_ptr<Trace> trace)
    {
        traces_.push_back(std::move(trace));
    }
    /// What a core does in this cycle. `task` is -1 without one; `events` has a bit for each
    /// counter.
    void see(uint64_t cycle, unsigned core, int task, bool asleep, bool chose, unsigned events);
    void end(uint64_t cycle);

  private:
    std::vector<std::unique_ptr<Trace>> traces_;
    // Two more than the task: 1 is none, and 0 nothing seen yet.
    std::vector<int> runs_;
    std::vector<bool> asleep_;
    std::vector<Counts> counts_;  // since that began
};

#endif
