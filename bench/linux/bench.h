// SPDX-License-Identifier: Apache-2.0
// whimbrel-bench: measures the middleware on the Linux kernels against a peer or a physical limit,
// in the same run, interleaved. Prints one row of JSON per measured thing.
#ifndef WB_BENCH_H
#define WB_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "host.h"
#include "timed.h"
#include "wb/launcher.h"
#include "wb/wb.h"

struct bench_options {
    unsigned int cpu[2];
    bool two_cores;    // cpu[1] is another one
    uint32_t rounds;   // how often ours and theirs take turns
    uint32_t samples;  // per round
};

// Samples of one thing over all rounds, in nanoseconds.
struct bench_samples {
    uint32_t n, room;
    double ns[];
};

/// Room for `room` samples, shared with every process forked later: tasks add to it. Ends the
/// program without memory.
struct bench_samples *bench_samples_new(uint32_t room);
void bench_samples_add(struct bench_samples *samples, double ns);
void bench_samples_free(struct bench_samples *samples);

/// Prints a row; `ratio` is theirs / ours at the median.
void bench_row(const char *name, struct bench_samples *ours, const char *against,
               struct bench_samples *theirs);

/// The same, and keeps `ours` for another row.
void bench_row_beside(const char *name, struct bench_samples *ours, const char *against,
                      struct bench_samples *theirs);

/// The same for a throughput, where more is better: only the medians.
void bench_rate_row(const char *name, const char *unit, struct bench_samples *ours,
                    const char *against, struct bench_samples *theirs);

/// The same against a limit that is no measurement. `ratio` is limit / ours at the median.
void bench_limit_row(const char *name, const char *unit, struct bench_samples *ours,
                     const char *against, double limit);

/// Sorts the samples. Ends the program if there are none.
double bench_samples_median(struct bench_samples *samples);

/// The same for the tenth part that was fastest: what Linux ran in between is no part of a cost.
double bench_samples_undisturbed(struct bench_samples *samples);

/// A file of the source tree that this program was built in. To be freed.
char *bench_path(const char *name);

/// Ends the program with a message.
_Noreturn void bench_fail(const char *what);

// ---- A small system for one round ---------------------------------------------------------------

struct bench_system {
    struct wb_host *host;
    struct wb_system *system;
};

void bench_open_as(struct bench_system *b, const struct wb_host_config *config);
void bench_open(struct bench_system *b, const struct bench_options *options, uint32_t cores,
                uint64_t spin_ns);
struct wb_task *bench_task(struct bench_system *b, const char *name, wb_task_entry *entry,
                           uint32_t core);

/// The same with room for one task of any mode with a heap of `heap_bytes`.
void bench_open_for(struct bench_system *b, const struct bench_options *options, uint32_t cores,
                    uint64_t spin_ns, size_t heap_bytes);
/// Adds it: `wanted` says its name, index, entry, core, mode, heap, and which images it keeps.
struct wb_task *bench_task_with(struct bench_system *b, const struct wb_task_config *wanted);

/// From port `out`, of that index, to port `in`.
void bench_channel(struct bench_system *b, const char *name, uint32_t slots, uint32_t slot_bytes,
                   struct wb_task *from, uint32_t out, struct wb_task *to, uint32_t in);

/// Runs the system to its end, with `state` for the tasks (wb_task_app(self)->state). Each kernel
/// has a copy of what lies in memory of ours: what tasks tell goes into samples.
void bench_start(struct bench_system *b, void *state);

/// The same, and closes it.
void bench_run(struct bench_system *b, void *state);

/// Pins the calling thread, for the peers' side. The launcher's own affinity is put back by
/// bench_unpin().
void bench_pin(unsigned int cpu);
void bench_unpin(void);

/// Pins a thread that ends soon.
void bench_pin_thread(unsigned int cpu);

// ---- Load ---------------------------------------------------------------------------------------

struct bench_load {
    pid_t pid[2];
    uint32_t n;
};

/// Keeps each processor of `options` busy with a process of ours, until bench_load_end().
void bench_load_start(struct bench_load *load, const struct bench_options *options);
void bench_load_end(struct bench_load *load);

/// Fewer rounds: under load everything takes longer.
struct bench_options bench_options_loaded(const struct bench_options *options);

// ---- What tasks do ------------------------------------------------------------------------------

/// Computes for so long, by the clock of the run.
void bench_compute(uint64_t ns);

// ---- A task that has something to carry ---------------------------------------------------------

/// Fills the calling task's heap until `bytes` of it are in use; what it keeps is its state.
void bench_carry(struct wb_task *self, size_t bytes);

/// Fails the run unless all of it is there, as it was.
void bench_carry_check(struct wb_task *self);

// ---- Sizes --------------------------------------------------------------------------------------

/// "64KiB"
const char *bench_size_name(size_t bytes, char name[static 24]);

/// How often a context of `bytes` is moved or copied in one round; `cold`: with the caches emptied
/// before each.
uint32_t bench_size_times(size_t bytes, bool cold);

/// What memcpy of `bytes` takes on one core: adds bench_size_times() samples.
void bench_memcpy(const struct bench_options *options, size_t bytes, bool cold,
                  struct bench_samples *samples);

/// Takes every other line out of the caches of this core, and those that cores share; to be
/// prepared once before.
void bench_caches_prepare(void);
void bench_caches_empty(void);

struct bench_point {
    double kib, ns;
};
struct bench_fit {
    double slope, offset_ns, r2;
};
struct bench_fit bench_fit(const struct bench_point *points, uint32_t n);

/// A row of the line through undisturbed costs against size: `p50` is its slope.
void bench_fit_row(const char *name, const struct bench_point *points, uint32_t n);

// ---- The FM radio -------------------------------------------------------------------------------

enum { BENCH_RADIO_TASKS = 6 };  // lpf, demodulator, sum, bpf, bpf, bpf

struct bench_radio {
    double busy_ns[BENCH_RADIO_TASKS];
    struct timed_checkpoints timed;  // to be given, for a module that has it
};

/// Plays the recording as fast as it goes, with module `module`.
///
/// Returns: input samples per second; more in `told` unless that is NULL.
double bench_radio(const struct bench_options *options, uint32_t cores, const char *module,
                   struct bench_radio *told);

// ---- Groups -------------------------------------------------------------------------------------

void bench_migration(const struct bench_options *options);
void bench_replication(const struct bench_options *options);  // part of migration
void bench_recreation(const struct bench_options *options);   // part of migration
void bench_channels(const struct bench_options *options);
void bench_switch(const struct bench_options *options);
void bench_checkpoint(const struct bench_options *options);
void bench_images(const struct bench_options *options);          // part of checkpoint
void bench_fm_checkpoints(const struct bench_options *options);  // part of checkpoint
void bench_alloc(const struct bench_options *options);
void bench_fm_radio(const struct bench_options *options);
void bench_agent(const struct bench_options *options);
void bench_wake(const struct bench_options *options);
void bench_calls(const struct bench_options *options);

#endif
