// SPDX-License-Identifier: Apache-2.0
// A task that two cores share, where hardware chooses which of them runs it (kernels/riscv/slots.c):
// waiting, wakes from anywhere, the owner_state that follows, and a core that dies before any step.
//
// What is one step of the HW-RTOS is one step here: a pick, a message, a call to block. Memory is
// sequentially consistent.
//
//   -DMESSAGES=n   that the task waits for
//   -DKILLS=n      0, or 1: core 0 is killed
//   -DMUTATE_...   leaves out one step, which must be found

#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define NOBODY 2
#define READY 0
#define RUNNING 1
#define BLOCKED 2
#define OFFERED 3

// The HW-RTOS: the slot of the task, and its port.
bit valid, waits, affinity[2] = 1;
byte messages;                          // in the port: at most 2
byte running = NOBODY, unsaved = NOBODY;  // who has it; in whose registers its context still is

// Memory.
byte state, owner;      // wb_task.owner_state
bit complete = 1;       // its context is in memory
byte sent, received;
bit waiting;            // wb_port.waiting
byte line;              // where the task goes on
byte holder = NOBODY;   // of the Lock Unit: a compare-swap is a load and a store under a lock
bit dead[2], finished;

// ready_wake(): a message that has no room has no news.
inline wake()
{
    atomic {
        if
        :: messages < 2 -> messages++
        :: else
        fi
    }
}

// choose(), wb_task_chosen(), wb_task_resumed()
inline announce()
{
    assert(complete);
    if
    :: owner != me ->
#ifdef MUTATE_PLACE_IS_STORED
        atomic { state = READY; owner = me }
#else
        atomic { holder == NOBODY -> holder = me };
        atomic { state = READY; owner = me };
        holder = NOBODY
#endif
    :: else
    fi;
    atomic { assert(owner == me); state = RUNNING };
    complete = 0
}

// The task itself: get(), wait(), wb_kernel_block() in port.c and kernel.c. Its line goes along.
#define ATTEMPT 0
#define SAY_SO 1
#define AGAIN 2
#define BLOCK 3
#define WOKEN 4

inline step()
{
    assert(running == me && state == RUNNING && owner == me);
    if
    :: line == ATTEMPT && received < sent -> received++
    :: line == ATTEMPT && received == sent -> line = SAY_SO
    :: line == SAY_SO -> waiting = 1; line = AGAIN
    :: line == AGAIN && received < sent -> received++; waiting = 0; line = ATTEMPT
    :: line == AGAIN && received == sent -> line = BLOCK
    :: line == WOKEN ->
        // ready_looks(), before the task looks again
        atomic {
            if
            :: messages > 0 -> messages--
            :: else
            fi
        };
        line = ATTEMPT
    fi
}

// ready_attach(), where the owner_state says so under the lock
inline attach(me)
{
    atomic { holder == NOBODY -> holder = me };
    if
#ifdef MUTATE_ATTACH_DOES_NOT_LOOK
    :: true -> atomic { affinity[me] = 1; if :: !valid -> waits = 0 :: else fi; valid = 1 }
#else
    :: state == READY && owner == me ->
        atomic { affinity[me] = 1; if :: !valid -> waits = 0 :: else fi; valid = 1 }
    :: else
#endif
    fi;
    holder = NOBODY;
    wake()
}

// The first core has yet to take it in.
proctype Core(byte me)
{
    {
        if
        :: me == 0 -> attach(me)
        :: else
        fi;
end:
        do
        :: atomic {
            valid && affinity[me] && running == NOBODY && (unsaved == NOBODY || unsaved == me) &&
                (!waits || messages > 0) ->
                running = me;
                waits = 0;
                unsaved = NOBODY
           };
picked:
           announce();
resumed:
           do
           :: line == BLOCK -> break
           :: received == MESSAGES -> break
           :: received < MESSAGES && line != BLOCK -> step()
           od;
           if
           :: received == MESSAGES ->
                // CallExit, and its end
                atomic { holder == NOBODY -> valid = 0; running = NOBODY; finished = 1 }
           :: else ->
#ifdef MUTATE_WAKES_ARE_FORGOTTEN_BEFORE_THE_CALL
                messages = 0;
#endif
                // WaitPort, CallBlock: one step, which looks at the port
                atomic { line = WOKEN; waits = 1; running = NOBODY; unsaved = me };
                if
                :: atomic { unsaved == me && messages > 0 -> running = me; waits = 0; unsaved = NOBODY };
                   goto resumed
                :: true
                fi;
                // leave(), finish_previous()
                complete = 1;
#ifdef MUTATE_SAVED_BEFORE_PAUSED
                atomic {
                    if
                    :: unsaved == me -> unsaved = NOBODY
                    :: else
                    fi
                };
                state = BLOCKED
#else
                state = BLOCKED;
                // ready_saved(). The hardware may have chosen it again for this core meanwhile.
                atomic {
                    if
                    :: unsaved == me -> unsaved = NOBODY
                    :: else
                    fi
                }
#endif
           fi
        od
    } unless { dead[me] }
}

// Another task, on any core: wb_port_notify()
proctype Sender()
{
    bit was;

    do
    :: sent < MESSAGES ->
        sent++;
        if
        :: waiting ->
            atomic { was = waiting; waiting = 0 };
            if
#ifdef MUTATE_WAKES_WHO_IS_BLOCKED
            :: was && state == BLOCKED -> wake()
#else
            :: was -> wake()
#endif
            :: else
            fi
        :: else
        fi
    :: else -> break
    od
}

#if KILLS
// board_kill(), ready_killed() and then wb_core_died(): core 0 is held by its killer.
proctype Killer()
{
    byte seen, by;

    if
    :: dead[0] = 1
    :: finished -> goto over
    fi;
    // A core in reset gives its lock back.
    atomic {
        if
        :: holder == 0 -> holder = NOBODY
        :: else
        fi
    };
    // forgo()
    atomic {
        affinity[0] = 0;
#ifndef MUTATE_WHO_RAN_MAY_BE_CHOSEN
        if
        :: state == RUNNING && owner == 0 -> valid = 0
        :: else
        fi
#endif
    };
    atomic {
        if
        :: running == 0 -> running = NOBODY
        :: else
        fi;
        if
        :: unsaved == 0 -> unsaved = NOBODY
        :: else
        fi
    };
    // take_over()
#ifndef MUTATE_DEAD_OWNER_STAYS
    seen = state;
    by = owner;
    if
    :: finished || by != 0
    :: else ->
        if
        :: seen == RUNNING ->
            // revive(), give(), and its successor attaches it
            complete = 1;
            waiting = 0;
            line = ATTEMPT;
            atomic { state = READY; owner = 1 };
            attach(1)
        :: else ->
            // give()
            atomic { holder == NOBODY -> holder = 0 };
            if
#ifdef MUTATE_RECOVERY_DOES_NOT_COMPARE
            :: true -> state = OFFERED
#else
            :: state == seen && owner == by -> state = OFFERED
            :: else
#endif
            fi;
            holder = NOBODY;
            // wb_migration_arrive(), by its successor, at any time
            if
            :: atomic { holder == NOBODY && state == OFFERED -> state = READY; owner = 1 };
               attach(1)
            :: state != OFFERED
            fi
        fi
    fi;
#endif
over:
    skip
}
#endif

init
{
    atomic {
        affinity[1] = 1;
        run Core(0);
        run Core(1);
        run Sender();
#if KILLS
        run Killer()
#endif
    };
    // Nothing moves any more.
    timeout ->
        assert(finished && received == MESSAGES)
}
