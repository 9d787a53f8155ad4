// SPDX-License-Identifier: Apache-2.0
// Ends an occupation from outside, at some time after its tool was started.
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

enum { WAITS = 12000, WAIT_US = 5000, MISSING = 127 };

static void sleep_us(long us)
{
    const struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

    nanosleep(&time, NULL);
}

// Whether a process is a guardian, and does not only wait for its parent to ask how it ended. One
// that has just been started still has the tool's name; it is not killed, but waited for.
static bool is_guardian(const char *pid, bool named)
{
    char path[300], name[64] = "", state = 'Z';

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    const bool read = file && fscanf(file, "%*d (%63[^)]) %c", name, &state) == 2;

    if (file)
        fclose(file);
    return read && state != 'Z' &&
           (strcmp(name, "occupy-guardian") == 0 ||
            (!named && strcmp(name, "whimbrel-occupy") == 0));
}

// Sends a signal to every guardian there is (this guest is the test's own); 0 only counts them.
static int guardians(int signal)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    int found = 0;

    while (proc && (entry = readdir(proc))) {
        const int pid = atoi(entry->d_name);

        if (pid > 1 && is_guardian(entry->d_name, signal != 0)) {
            found++;
            kill(pid, signal);
        }
    }
    if (proc)
        closedir(proc);
    return found;
}

// Until a file is there, or for some microseconds.
static void wait_for(const char *when)
{
    if (when[0] != '/')
        sleep_us(atol(when));
    for (int waits = 0; when[0] == '/' && waits < WAITS && access(when, F_OK) != 0; waits++)
        sleep_us(WAIT_US);
}

int rig_kill(int signal, const char *whom, const char *when, char *const command[])
{
    const bool both = strcmp(whom, "both") == 0;
    const pid_t pid = fork();
    int status = 0, waits = 0;

    if (pid == 0) {
        setpgid(0, 0);  // as a shell does for what it starts in a terminal
        execvp(command[0], command);
        _exit(MISSING);
    }
    wait_for(when);
    if (both) {
        kill(pid, SIGSTOP);  // or the first to die would be undone by the other
        guardians(SIGSTOP);
    }
    if (strcmp(whom, "group") == 0)
        kill(-pid, signal);
    else if (strcmp(whom, "guardian") != 0)
        kill(pid, signal);
    if (both || strcmp(whom, "guardian") == 0)
        guardians(signal);
    while (waits < WAITS && waitpid(pid, &status, WNOHANG) == 0) {
        sleep_us(WAIT_US);
        waits++;
    }
    while (waits < WAITS && guardians(0) > 0) {
        sleep_us(WAIT_US);
        waits++;
    }
    printf("%s %d after %d ms\n", WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), waits * WAIT_US / 1000);
    return pid > 0 && waits < WAITS ? 0 : 2;
}
