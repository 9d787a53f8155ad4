// SPDX-License-Identifier: Apache-2.0
// What the C and C++ libraries keep of a thread and a task must find again wherever it runs: errno,
// and the exceptions it handles. The latter belong to one kernel, so a task that has any stays.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>

#include "process.h"

// Of the thread that is this kernel. errno is looked up once: each access would be a call.
static int *the_errno;

// libstdc++'s per-thread state (Itanium C++ ABI, section 2.2.2); NULL where it is not loaded.
static struct cxx_globals {
    void *caught;
    unsigned int uncaught;
} * the_globals;

void libc_state_init(void)
{
    // A module brings libstdc++ along, outside the global scope.
    void *libstdcxx = dlopen("libstdc++.so.6", RTLD_NOLOAD | RTLD_LAZY);
    struct cxx_globals *(*globals)(void) = NULL;

    if (libstdcxx != NULL)
        *(void **)&globals = dlsym(libstdcxx, "__cxa_get_globals");
    the_globals = globals != NULL ? globals() : NULL;
    the_errno = &errno;
}

void libc_state_save(struct libc_state *state)
{
    state->error_number = *the_errno;
    if (the_globals != NULL) {
        state->caught = the_globals->caught;
        state->uncaught = the_globals->uncaught;
    }
}

void libc_state_restore(const struct libc_state *state)
{
    if (the_globals != NULL) {
        the_globals->caught = state->caught;
        the_globals->uncaught = state->uncaught;
    }
    *the_errno = state->error_number;
}

bool libc_state_is_held(const struct libc_state *state)
{
    return state->mutexes != 0 ||
           (the_globals != NULL && (the_globals->caught != NULL || the_globals->uncaught != 0));
}
