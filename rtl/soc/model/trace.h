// SPDX-License-Identifier: Apache-2.0
// Writes what each core runs, cycle by cycle.
#ifndef TRACE_H
#define TRACE_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

/// A file in the format of a viewer. Time is in cycles, of 100 ns in the file.
class Trace
{
  public:
    virtual ~Trace() = default;
    /// From this cycle on a core does something else: a task, or what it is without one.
    virtual void runs(uint64_t cycle, unsigned core, const std::string &what) = 0;
    /// The scheduling module of a core has chosen a task.
    virtual void chose(uint64_t cycle, unsigned core) = 0;
    /// The end of the trace; nothing comes behind it.
    virtual void end(uint64_t cycle) = 0;
};

/// For GTKWave: a scope for each core, with its task by name and a pulse for each choice.
std::unique_ptr<Trace> vcd_trace(std::FILE *file, unsigned cores);
/// For ui.perfetto.dev: a track for each core, and one for each scheduling module.
std::unique_ptr<Trace> perfetto_trace(std::FILE *file, unsigned cores);

/// Tells traces what changes.
class Watch
{
  public:
    explicit Watch(unsigned cores) : runs_(cores), asleep_(cores) {}

    bool empty() const
    {
        return traces_.empty();
    }
    void add(std::unique_ptr<Trace> trace)
    {
        traces_.push_back(std::move(trace));
    }
    /// What a core does in this cycle. `task` is -1 without one.
    void see(uint64_t cycle, unsigned core, int task, bool asleep, bool chose);
    void end(uint64_t cycle);

  private:
    std::vector<std::unique_ptr<Trace>> traces_;
    // Two more than the task: 1 is none, and 0 nothing seen yet.
    std::vector<int> runs_;
    std::vector<bool> asleep_;
};

#endif
