// SPDX-License-Identifier: Apache-2.0
// Requests to move two tasks, and sweeps that end those that are overdue. A sweep looks at the tasks
// only if the bit of wb_system.sweep is set, which nobody writes at the end of a request.
//
//   -DREQUESTS=n      of each task
//   -DMUTATE_...      leaves out one step, which must be found

#ifndef REQUESTS
#define REQUESTS 2
#endif
#define TASKS 2
#define SWEEPERS 2

mtype = { NONE, FILLING, PENDING };

mtype request[TASKS] = NONE;
bit look;                    // WB_SWEEP_REQUESTS

inline let_sweeps_look()
{
    if
    :: look == 0 -> look = 1
    :: else
    fi
}

// One after the other for its task; the task's core may end it first.
proctype Requester(byte task)
{
    byte n;

    do
    :: n < REQUESTS ->
        request[task] == NONE;
        request[task] = FILLING;
        request[task] = PENDING;
#ifndef MUTATE_NO_BIT
        let_sweeps_look();
#endif
        if
        :: atomic { request[task] == PENDING -> request[task] = NONE }
        :: true
        fi;
        n++
    :: else -> break
    od
}

// A task that waits for an outcome, or the launcher: whenever the bit is set.
proctype Sweeper()
{
    byte task;
    bit under_way;
    mtype seen;

end:
    do
    :: look == 1 ->
#ifndef MUTATE_CLEARED_AFTER_THE_TASKS
        look = 0;
#endif
        task = 0;
        do
        :: task < TASKS ->
            seen = request[task];
#ifndef MUTATE_WHAT_IS_UNDER_WAY_IS_FORGOTTEN
            under_way = under_way || seen != NONE;
#endif
            if
            :: seen == PENDING ->
                atomic {
                    if
                    :: request[task] == PENDING -> request[task] = NONE
                    :: else
                    fi
                }
            :: true  // it is not overdue yet
            fi;
            task++
        :: else -> break
        od;
#ifdef MUTATE_CLEARED_AFTER_THE_TASKS
        look = 0;
#endif
        if
        :: under_way -> look = 1
        :: else
        fi;
        under_way = 0; seen = NONE
    od
}

init
{
    byte i;

    atomic {
        do
        :: i < TASKS -> run Requester(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < SWEEPERS -> run Sweeper(); i++
        :: else -> break
        od
    };
    timeout -> assert(request[0] == NONE && request[1] == NONE)
}
