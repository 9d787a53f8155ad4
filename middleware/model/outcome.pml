// SPDX-License-Identifier: Apache-2.0
// What a task is told of the migrations that it asks for. It does not wait for the first run of one
// that its target has for good: that request may end at any time, also while the task waits for
// another. The launcher asks for the same tasks, and wants no answer.
//
//   -DREQUESTS=n      of each of the two
//   -DMUTATE_...      leaves out one step, which must be found

#ifndef REQUESTS
#define REQUESTS 3
#endif
#define TASKS 2
#define NUMBERS 4  // they wrap

mtype = { NONE, FILLING, PENDING, ACCEPTED };
mtype = { AWAITED, OK, HELD };

mtype request[TASKS] = NONE;
byte number[TASKS];
bool asks_for_answer[TASKS], is_there[TASKS];

// The word of the one that asks: enum wb_outcome in owner_state.h.
mtype answer = AWAITED;
byte of_task, of_number;
#define ANSWER(status, task, number) answer = status; of_task = task; of_number = number

mtype became[TASKS];  // of the last request of each

#define IS_AWAITED (answer == AWAITED && of_task == task && of_number == number[task])
#ifdef MUTATE_ANSWER_NAMES_NO_TASK
#undef IS_AWAITED
#define IS_AWAITED (answer == AWAITED && of_number == number[task])
#endif
#ifdef MUTATE_ANSWER_IS_NOT_COMPARED
#undef IS_AWAITED
#define IS_AWAITED true
#endif

// wb_migration_finish()
inline finish(status)
{
    if
    :: asks_for_answer[task] ->
        atomic {
            if
            :: IS_AWAITED -> ANSWER(status, task, number[task])
            :: else
            fi
        }
    :: else
    fi;
    atomic { became[task] = status; is_there[task] = false; request[task] = NONE }
}

// Its source, which may refuse, and its target, which may run it at once or late.
proctype Task(byte task)
{
end:
    do
    :: atomic { request[task] == PENDING -> request[task] = ACCEPTED };
        if
        :: finish(HELD)
        :: is_there[task] = true; finish(OK)
        fi
    od
}

// ask()
inline ask(wants)
{
    atomic {
        if
        :: request[task] == NONE ->
            request[task] = FILLING;
            number[task] = (number[task] + 1) % NUMBERS;
            n = number[task];
            has = true
        :: else -> has = false
        fi
    };
    if
    :: has ->
        asks_for_answer[task] = wants;
#ifndef MUTATE_AWAITED_ONCE_IT_IS_PENDING
        if
        :: wants -> atomic { ANSWER(AWAITED, task, n) }
        :: else
        fi;
#endif
        request[task] = PENDING
#ifdef MUTATE_AWAITED_ONCE_IT_IS_PENDING
        ;
        if
        :: wants -> atomic { ANSWER(AWAITED, task, n) }
        :: else
        fi
#endif
    :: else
    fi
}

#define IS_UNDER_WAY (request[task] != NONE && number[task] == n)

// wb_migrate(). What became of a request is not written again while this one looks: the launcher
// asks next only once it has been seen.
proctype Requester()
{
    byte task, n, asked;
    bool has;

    do
    :: asked < REQUESTS ->
        asked++;
        if
        :: task = 0
        :: task = 1
        fi;
        ask(true);
        if
        :: has ->
            if
            :: atomic { !IS_UNDER_WAY ->
                    assert(answer != AWAITED && of_task == task && of_number == n);
                    assert(number[task] != n || answer == became[task])
               }
            :: is_there[task]  // its time is over
            fi
        :: else
        fi
    :: else -> break
    od
}

proctype Launcher()
{
    byte task, n, asked;
    bool has;

    do
    :: asked < REQUESTS ->
        asked++;
        if
        :: task = 0
        :: task = 1
        fi;
        ask(false)
    :: else -> break
    od
}

init
{
    atomic { run Requester(); run Launcher(); run Task(0); run Task(1) };
    timeout -> assert(request[0] == NONE && request[1] == NONE)
}
