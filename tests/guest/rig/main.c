// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

// As another user, who has no other rights.
static int rig_user(unsigned int user, char **command)
{
    if (setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0)
        return 126;
    execvp(command[0], command);
    return 127;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";

    if (strcmp(verb, "snapshot") == 0)
        return rig_snapshot();
    if (strcmp(verb, "spin") == 0 && argc == 4)
        return rig_spin(atof(argv[2]), atoi(argv[3]));
    if (strcmp(verb, "kill") == 0 && argc > 5)
        return rig_kill(atoi(argv[2]), argv[3], argv[4], argv + 5);
    if (strcmp(verb, "as") == 0 && argc > 4)
        return rig_as(atoi(argv[2]), atoi(argv[3]), argv + 4);
    if (strcmp(verb, "user") == 0 && argc > 3)
        return rig_user((unsigned int)atoi(argv[2]), argv + 3);
    if (strcmp(verb, "back") == 0 && argc == 4)
        rig_back(atoi(argv[2]), atol(argv[3]));
    fprintf(stderr,
            "usage: rig snapshot | rig spin SECONDS THREADS | rig back CPU MICROSECONDS\n"
            "     | rig as POLICY NUMBER COMMAND ... | rig user NUMBER COMMAND ...\n"
            "     | rig kill SIGNAL tool|group|guardian|both MICROSECONDS|FILE COMMAND ...\n");
    return 2;
}
