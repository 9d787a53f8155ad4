// SPDX-License-Identifier: Apache-2.0
// Frequencies by sysfs: the governor `userspace` and scaling_setspeed where there are such, else
// scaling_min_freq and scaling_max_freq as a clamp.
//
// What each attribute was is kept here, for the end, and in a journal, for the command if this
// process is killed. The journal has the form of that of `whimbrel occupy`, and is undone by the
// same code (crates/occupy/src/journal.rs).

#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "private.h"
#include "sysfs.h"

enum { KHZ = 1000, VALUE_BYTES = 64 };

struct policy {
    char setspeed[SYSFS_PATH_BYTES];  // "": clamped by the other two
    char min[SYSFS_PATH_BYTES], max[SYSFS_PATH_BYTES];
    struct wb_word khz;  // set last, by its kernel or the launcher; 0: not set yet
};

// What an attribute was.
struct former {
    char path[SYSFS_PATH_BYTES], value[VALUE_BYTES];
};

// Laid out by the launcher, shared with the kernels.
static struct policy *policies;
static uint32_t n_policies;

// Of the launcher alone, in the order in which they are put back.
static struct former *formers;
static size_t n_formers;

static void path_of(char *path, const char *root, unsigned int cpu, const char *attribute)
{
    snprintf(path, SYSFS_PATH_BYTES, "%s/devices/system/cpu/cpu%u/cpufreq/%s", root, cpu,
             attribute);
}

// Paths and values of sysfs have nothing that JSON escapes; one that has is refused.
static bool write_line(FILE *journal, const char *path, const char *value)
{
    return strpbrk(path, "\"\\") == NULL && strpbrk(value, "\"\\") == NULL &&
           fprintf(journal,
                   "{\"change\":{\"setting\":{\"word\":\"%s\"},\"before\":\"%s\",\"from\":\"%s\","
                   "\"to\":\"\"}}\n",
                   path, value, value) > 0;
}

// A speed by hand is known only to its governor, so it comes after it.
static bool note(FILE *journal, const char *root, unsigned int cpu)
{
    static const char *const attributes[] = { "scaling_min_freq", "scaling_max_freq",
                                              "scaling_governor", "scaling_setspeed" };
    bool has_speed = false;

    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        struct former *former = &formers[n_formers];

        if (i == 3 && !has_speed)
            return true;
        path_of(former->path, root, cpu, attributes[i]);
        if (!sysfs_read(former->path, former->value, sizeof former->value) ||
            !write_line(journal, former->path, former->value))
            return false;
        has_speed = strcmp(former->value, "userspace") == 0;
        n_formers++;
    }
    return true;
}

static bool write_journal(const char *root, const unsigned int *cpus, uint32_t n,
                          const char *journal, unsigned int *bad)
{
    char boot[VALUE_BYTES];
    // Whatever the umask is: what is undone by it is trusted only if nobody else can write it.
    const int fd = open(journal, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (file == NULL)
        return false;
    bool noted = sysfs_read("/proc/sys/kernel/random/boot_id", boot, sizeof boot) &&
                 fprintf(file, "{\"boot\":\"%s\"}\n", boot) > 0;
    for (uint32_t i = 0; noted && i < n; i++) {
        *bad = cpus[i];
        noted = note(file, root, cpus[i]);
    }
    noted = fflush(file) == 0 && fsync(fileno(file)) == 0 && noted;
    fclose(file);
    return noted;
}

static bool take_policy(const char *root, unsigned int cpu, struct policy *policy)
{
    char path[SYSFS_PATH_BYTES], governors[256];

    path_of(policy->min, root, cpu, "scaling_min_freq");
    path_of(policy->max, root, cpu, "scaling_max_freq");
    path_of(path, root, cpu, "scaling_available_governors");
    if (!sysfs_read(path, governors, sizeof governors) || strstr(governors, "userspace") == NULL)
        return access(policy->min, W_OK) == 0 && access(policy->max, W_OK) == 0;
    path_of(path, root, cpu, "scaling_governor");
    path_of(policy->setspeed, root, cpu, "scaling_setspeed");
    return sysfs_write(path, "userspace");
}

static bool share_policies(uint32_t n)
{
    if (policies != NULL)
        munmap(policies, n_policies * sizeof *policies);
    policies =
        mmap(NULL, n * sizeof *policies, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    n_policies = n;
    if (policies == MAP_FAILED)
        policies = NULL;
    return policies != NULL;
}

const char *cpufreq_open(const char *root, const unsigned int *cpus, uint32_t n,
                         const char *journal, unsigned int *bad)
{
    char path[SYSFS_PATH_BYTES];

    for (uint32_t i = 0; i < n; i++) {
        *bad = cpus[i];
        path_of(path, root, cpus[i], "scaling_min_freq");
        if (access(path, R_OK) != 0)
            return "this processor's frequency cannot be set: it has no cpufreq";
        for (uint32_t j = 0; j < i; j++)
            if (cpus[j] == cpus[i])
                return "two cores share this processor, which has one frequency";
    }
    free(formers);
    if (!share_policies(n))
        return "no memory";
    formers = calloc(4 * (size_t)n, sizeof *formers);
    n_formers = 0;
    if (formers == NULL)
        return "no memory";
    if (!write_journal(root, cpus, n, journal, bad)) {
        unlink(journal);
        return "its present frequencies cannot be noted";
    }
    for (uint32_t i = 0; i < n; i++) {
        *bad = cpus[i];
        if (!take_policy(root, cpus[i], &policies[i])) {
            (void)cpufreq_restore(journal);
            return "this user may not set its frequency";
        }
    }
    return NULL;
}

// A lower limit above the upper one is refused, so the limit that gives way moves first.
static bool clamp(struct policy *policy, const char *text, uint64_t khz)
{
    uint64_t max_khz;
    const bool up = sysfs_read_number(policy->max, &max_khz) && khz > max_khz;

    return sysfs_write(up ? policy->max : policy->min, text) &&
           sysfs_write(up ? policy->min : policy->max, text);
}

bool cpufreq_is(uint32_t core, uint64_t hz)
{
    // Relaxed: of two that set it at once the late one is put right by the launcher's next look.
    return wb_word_load(&policies[core].khz, WB_RELAXED) == hz / KHZ;
}

bool cpufreq_set(uint32_t core, uint64_t hz)
{
    struct policy *policy = &policies[core];
    const uint64_t khz = hz / KHZ;
    char text[VALUE_BYTES];

    if (cpufreq_is(core, hz))
        return true;
    snprintf(text, sizeof text, "%" PRIu64, khz);
    const bool set = policy->setspeed[0] != '\0' ? sysfs_write(policy->setspeed, text)
                                                 : clamp(policy, text, khz);
    wb_word_store(&policy->khz, set ? (uint32_t)khz : 0, WB_RELAXED);
    return set;
}

// A second time, because a limit may be refused before the other moved.
bool cpufreq_restore(const char *journal)
{
    char now[VALUE_BYTES];
    bool restored = true;

    for (size_t i = 0; i < 2 * n_formers; i++)
        (void)sysfs_write(formers[i % n_formers].path, formers[i % n_formers].value);
    for (size_t i = 0; i < n_formers; i++)
        if (!sysfs_read(formers[i].path, now, sizeof now) || strcmp(now, formers[i].value) != 0)
            restored = false;
    return restored && unlink(journal) == 0;
}
