// SPDX-License-Identifier: Apache-2.0
// What the helpers of the command have in common: a plan comes in on file descriptor 3, a system is
// built from it, and what happens is told.
#ifndef WB_HELPER_H
#define WB_HELPER_H

#include <stdbool.h>

#include "build.h"
#include "commands.h"
#include "deadlock.h"
#include "emit.h"
#include "lines.h"
#include "parse.h"
#include "recorder.h"

enum { HELPER_SOCKET = 3 };

struct helper {
    struct lines lines;
    struct plan plan;
    yyjson_alc *plan_memory;  // what it lies in
    struct build build;
    struct recorder recorder;
    recorder_opener *record;
    struct commands commands;
    void (*obey)(struct helper *h, const struct command *command);  // NULL: commands_obey()
    void (*share)(void);  // called after each command, as others need the processor; NULL: nothing
    struct deadlock deadlock;
    uint64_t deadlock_check_ns;  // when to look again
    uint64_t end_ns;             // when the kernels had ended; 0: not yet, or unknown
    bool failed, over;
    bool started;  // it has been told; a run that begins anew does not tell it again
    bool again;    // a run is over: what was still asked of it comes before the next plan
    struct teller teller;
    char command_memory[1 << 20];  // what a command lies in
};

/// Begins to speak: with whom, and how runs are recorded.
void helper_open(struct helper *h, FILE *out, recorder_opener *record);
void helper_close(struct helper *h);

/// The same on the socket that a process of Linux is given. False when there is none: somebody
/// started the helper by hand.
bool helper_listen(struct helper *h);

/// Tells an error; the run has failed.
void helper_report(struct helper *h, struct plan_error error);

/// The same for one of no task and no core. `key`: what it is about, or "".
void helper_report_error(struct helper *h, const char *kind, const char *key, const char *text);

/// Reads a plan. Blocks. False at the end of the stream, or after an error.
bool helper_read_plan(struct helper *h);

/// Lays the system out. False, with the error told, when that fails.
bool helper_build(struct helper *h);

/// Forgets a system whose host is closed: its plan can be built again.
void helper_forget_build(struct helper *h);

/// Makes room for the plan of another run.
void helper_forget(struct helper *h);

/// Starts the kernels, and opens the event streams of a recorded run. False, with the error told,
/// when nothing runs.
bool helper_start(struct helper *h);

/// Does what has been asked since the last call, and ends the run when nobody is left to ask.
void helper_take_commands(struct helper *h);

/// Writes and tells what the kernels have noted, and what came of commands.
void helper_drain(struct helper *h);

/// The same without the commands.
void helper_drain_rings(struct helper *h);

/// Ends a run in which nothing can happen any more. To be called again and again.
void helper_look_for_deadlock(struct helper *h);

/// Tells what wb_host_wait() saw.
void helper_take_event(struct helper *h, const struct wb_host_event *event);

/// Runs the application's last hook, and says the last word.
void helper_finish(struct helper *h);

#endif
