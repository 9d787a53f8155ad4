// SPDX-License-Identifier: Apache-2.0
// Firings: tasks that take messages, compute, and send messages, again and again.
//
// A firing takes as many messages from each input as its rate says, in the order in which the
// inputs are bound, computes (wb_compute()), puts as many into each output, ends the job if the
// task is periodic, and passes one checkpoint: an actor of a synchronous dataflow graph (E. A. Lee,
// D. G. Messerschmitt: "Synchronous Data Flow", Proc. IEEE 75(9), 1987). At channels that claim at
// the start (wb_channel_config), it claims its outputs after it has taken its inputs, and frees its
// inputs after it has put its outputs: what a bounded buffer is there (S. Stuijk, M. Geilen, T.
// Basten: "Exploring Trade-Offs in Buffer Requirements and Throughput Constraints for Synchronous
// Dataflow Graphs", DAC 2006). The bytes of each message are charged when it is taken, and when it
// is put, as of wb_port_receive() and wb_port_send().
#ifndef WB_FIRING_H
#define WB_FIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/status.h"

WB_BEGIN_C

struct wb_port;
struct wb_task;

// What the messages of a task hold. Both may be called on any stack, also one of another task: they
// need little of it, and neither block nor call what may.
struct wb_messages {
    /// Writes a message, the `number`th of its channel from 1.
    void (*write)(void *slot, uint32_t bytes, uint64_t number);

    /// Looks at a message; 0 numbers those that were there at the start.
    /// Returns: false if it is not the one that it should be, which fails the run.
    bool (*read)(const void *slot, uint32_t bytes, uint64_t number);
};

/// The whole of such a task, between its entry and its end: `return wb_fire(self, &messages);`.
///
/// A source ends after wb_task_firings(), or when the run stops; others when their inputs do. What
/// a firing still has to take and to put is told by its ports, so a task whose kernel was killed
/// goes on where it was, from its entry as well as from a checkpoint image.
///
/// Context: a task, with no state of its own (wb_task_state() is what is kept here).
/// Memory:  `messages` has to outlive the task.
/// Source:  acquaviva2008 section 6.2, the "controllable synthetic benchmark".
/// Returns: 0.
int wb_fire(struct wb_task *self, const struct wb_messages *messages);

/// The whole of a task with a script (wb/script.h), between its entry and its end.
///
/// It ends with its script, when a channel of it does, or after a firing when the run stops. A task
/// whose kernel was killed goes on with the event that it was at, or, if it held mutexes there,
/// which are lost with a life, with the first event that locked one.
///
/// Context: a task with a script, with no state of its own (wb_task_state() is what is kept here).
/// Memory:  `messages` has to outlive the task.
/// Returns: 0.
int wb_script_run(struct wb_task *self, const struct wb_messages *messages);

WB_END_C

#endif
