// SPDX-License-Identifier: Apache-2.0
// Kills the tool, its guardian or both, some microseconds after the tool was started.
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

enum { WAITS = 4000, WAIT_US = 5000, MISSING = 127 };

static void sleep_us(long us)
{
    const struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

    nanosleep(&time, NULL);
}

// Whether a process is called so, and not only waits for its parent to ask how it ended.
static bool is_guardian(const char *pid)
{
    char path[300], text[64] = "", state = 'Z';

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    const bool read = file && fscanf(file, "%*d (%63[^)]) %c", text, &state) == 2;

    if (file)
        fclose(file);
    return read && state != 'Z' && strcmp(text, "occupy-guardian") == 0;
}

// Sends a signal to every guardian there is (this guest is the test's own); 0 only counts them.
static int guardians(int signal)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    int found = 0;

    while (proc && (entry = readdir(proc))) {
        const int pid = atoi(entry->d_name);

        if (pid > 1 && is_guardian(entry->d_name)) {
            found++;
            kill(pid, signal);
        }
    }
    if (proc)
        closedir(proc);
    return found;
}

int rig_kill(const char *whom, long after_us, char *const command[])
{
    const bool tool = strcmp(whom, "guardian") != 0, guardian = strcmp(whom, "tool") != 0;
    const pid_t pid = fork();
    int status = 0, waits = 0;

    if (pid == 0) {
        execvp(command[0], command);
        _exit(MISSING);
    }
    sleep_us(after_us);
    if (tool)
        kill(pid, SIGKILL);
    if (guardian)
        guardians(SIGKILL);
    while (waits < WAITS && waitpid(pid, &status, WNOHANG) == 0) {
        sleep_us(WAIT_US);
        waits++;
    }
    // The tool may have started its guardian after we looked for it.
    while (waits < WAITS && guardians(tool && guardian ? SIGKILL : 0) > 0) {
        sleep_us(WAIT_US);
        waits++;
    }
    printf("tool %s %d, waited %d ms\n", WIFSIGNALED(status) ? "killed by" : "ended with",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), waits * WAIT_US / 1000);
    return pid > 0 && waits < WAITS ? 0 : 2;
}
