// SPDX-License-Identifier: Apache-2.0
// What an occupation changes: tasks, cpusets, interrupts, workqueues; and what it must not touch:
// the scheduler's settings. A key names a thing for its life, so that two snapshots can be
// compared.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"

enum { TEXT = 4096, PATH = 512, FIXED = 0x04000000 /* the kernel's PF_NO_SETAFFINITY */ };

// A small file on one line, or false if it cannot be read.
static bool read_text(const char *path, char text[TEXT])
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, text, TEXT - 1);

    if (file >= 0)
        close(file);
    if (size < 0)
        return false;
    text[size] = '\0';
    for (char *at = text; *at; at++)
        if (*at == '\n' || *at == '\t')
            *at = at[1] ? ';' : '\0';
    return true;
}

static void print_file(const char *path)
{
    char text[TEXT];

    if (read_text(path, text))
        printf("%s\t%s\n", path, text);
}

// Calls `each` with every entry of a folder but those that begin with a dot.
static void entries(const char *folder, void (*each)(const char *folder, const char *name))
{
    DIR *open_folder = opendir(folder);
    const struct dirent *entry;

    while (open_folder && (entry = readdir(open_folder)))
        if (entry->d_name[0] != '.')
            each(folder, entry->d_name);
    if (open_folder)
        closedir(open_folder);
}

// As the kernel writes lists, but for runs: "0,1,3". Where a worker of its own may run the kernel
// alone decides, and changes it whenever a cpuset is made.
static void print_affinity(int tid, bool fixed)
{
    cpu_set_t cpus;
    const char *comma = "";

    if (fixed) {
        printf("kernel");
        return;
    }
    CPU_ZERO(&cpus);
    sched_getaffinity(tid, sizeof cpus, &cpus);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &cpus)) {
            printf("%s%zu", comma, cpu);
            comma = ",";
        }
}

// A task: its number and start, which name it; then its name, which a kernel worker changes.
static void print_task(const char *folder, const char *name)
{
    char path[PATH], stat[TEXT], cgroup[TEXT] = "";
    struct sched_param param = { 0 };
    unsigned flags = 0;
    unsigned long long start = 0;
    const int tid = atoi(name);

    snprintf(path, sizeof path, "%s/%s/stat", folder, name);
    if (!isdigit((unsigned char)name[0]) || !read_text(path, stat))
        return;
    const char *after = strrchr(stat, ')');
    if (!after || sscanf(after + 1,
                         " %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d"
                         " %*d %*d %*d %*d %llu",
                         &flags, &start) != 2)
        return;
    snprintf(path, sizeof path, "%s/%s/cgroup", folder, name);
    read_text(path, cgroup);
    stat[after + 1 - stat] = '\0';
    sched_getparam(tid, &param);
    printf("task %d@%llu\tcpus=", tid, start);
    print_affinity(tid, flags & FIXED);
    printf(" policy=%d priority=%d nice=%d fixed=%d cgroup=%s #%s\n", sched_getscheduler(tid),
           param.sched_priority, getpriority(PRIO_PROCESS, (id_t)tid), (flags & FIXED) != 0, cgroup,
           strchr(stat, '('));
}

static void print_process(const char *folder, const char *name)
{
    char path[PATH];

    if (!isdigit((unsigned char)name[0]) || atoi(name) == getpid())
        return;
    snprintf(path, sizeof path, "%s/%s/task", folder, name);
    entries(path, print_task);
}

static void print_interrupt(const char *folder, const char *name)
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/%s/smp_affinity_list", folder, name);
    print_file(path);
}

static void print_workqueue(const char *folder, const char *name)
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/%s/cpumask", folder, name);
    print_file(path);
}

static void print_setting(const char *folder, const char *name)
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (strncmp(name, "sched_", 6) == 0 || strcmp(name, "numa_balancing") == 0 ||
        strcmp(name, "timer_migration") == 0 || strcmp(name, "watchdog_cpumask") == 0)
        print_file(path);
}

// A folder of control groups: its settings of cpusets, then the folders in it.
static void print_group(const char *folder, const char *name)
{
    char path[PATH];
    struct stat what;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (lstat(path, &what) < 0)
        return;
    if (S_ISDIR(what.st_mode)) {
        printf("%s\tfolder\n", path);
        entries(path, print_group);
    } else if ((strncmp(name, "cpuset.", 7) == 0 && !strstr(name, "pressure")) ||
               strcmp(name, "cgroup.subtree_control") == 0 || strcmp(name, "release_agent") == 0 ||
               strcmp(name, "notify_on_release") == 0) {
        print_file(path);
    }
}

static void print_left(const char *folder, const char *name)
{
    char path[PATH];
    struct stat what;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (lstat(path, &what) < 0)
        return;
    printf("%s\texists\n", path);
    if (S_ISDIR(what.st_mode))
        entries(path, print_left);
}

int rig_snapshot(void)
{
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    const struct mntent *mount;

    entries("/proc", print_process);
    while (mounts && (mount = getmntent(mounts))) {
        printf("mount %s\t%s\n", mount->mnt_dir, mount->mnt_type);
        if (strncmp(mount->mnt_type, "cgroup", 6) == 0)
            entries(mount->mnt_dir, print_group);
    }
    if (mounts)
        endmntent(mounts);
    print_file("/proc/irq/default_smp_affinity");
    entries("/proc/irq", print_interrupt);
    print_file("/sys/devices/virtual/workqueue/cpumask");
    entries("/sys/devices/virtual/workqueue", print_workqueue);
    entries("/proc/sys/kernel", print_setting);
    print_file("/sys/devices/system/cpu/online");
    entries("/run", print_left);
    return 0;
}
