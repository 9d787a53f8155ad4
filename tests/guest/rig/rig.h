// SPDX-License-Identifier: Apache-2.0
// The verbs of `rig`, the program that looks at the guest and disturbs it. Static, for a machine
// without libraries; what it prints is read by tests/guest/machine.py.
#ifndef RIG_H
#define RIG_H

/// Prints all that an occupation could leave behind, a line each: `KEY<tab>VALUE`. Returns 0.
int rig_snapshot(void);

/// Computes on some threads for some seconds, then prints for each what it got of its processor:
/// `thread N cpu C share S involuntary I gap_us G`. Returns 0, or 2 if a thread cannot be had.
int rig_spin(double seconds, int threads);

/// Runs a command in a group of its own; after some microseconds, or once a file is there, sends a
/// signal to it (`tool`), to its group (`group`, as Ctrl-C does), to its guardian (`guardian`), or
/// to both, and waits until neither lives. Prints how the command ended. Returns 0, or 2 if one
/// does not end.
int rig_kill(int signal, const char *whom, const char *when, char *const command[]);

/// Becomes a command that is scheduled by a policy of Linux: 0 with this nice value, 1 (FIFO) with
/// this priority, 3 (batch). Returns 2 if that cannot be had.
int rig_as(int policy, int number, char *const command[]);

/// Binds itself to a processor, again and again until it is killed. Never returns.
_Noreturn void rig_back(int cpu, long every_us);

#endif
