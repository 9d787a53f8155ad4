// SPDX-License-Identifier: Apache-2.0
// What this machine measures of itself: temperatures (thermal zones) and energy (powercap, the
// RAPL counters of its packages). Many machines, and nearly all virtual ones, have neither.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "private.h"
#include "sysfs.h"
#include "wb/system.h"

enum { ZONES_MAX = 64, PACKAGES_MAX = 16, NAME_BYTES = 64 };

struct package {
    char path[SYSFS_PATH_BYTES];
    uint64_t last_uj, range_uj;
};

// Laid out by the launcher, inherited by the kernels; the energy is the launcher's alone.
static struct {
    char (*zones)[SYSFS_PATH_BYTES];  // of each core; "": none
    uint32_t n_zones, n_packages;
    struct package packages[PACKAGES_MAX];
    uint64_t total_uj;
} s;

// ---- Temperatures -------------------------------------------------------------------------------

// How well a zone tells of a processor: 2 its own, 1 that of the chip it is on, 0 something else.
static int fitness(const char *type, unsigned int cpu)
{
    static const char *const chips[] = { "x86_pkg_temp", "cpu-thermal", "cpu_thermal",
                                         "soc-thermal",  "soc_thermal", "cpu" };
    char own[2][NAME_BYTES];

    snprintf(own[0], NAME_BYTES, "cpu%u-thermal", cpu);
    snprintf(own[1], NAME_BYTES, "cpu%u_thermal", cpu);
    if (strcmp(type, own[0]) == 0 || strcmp(type, own[1]) == 0)
        return 2;
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++)
        if (strcmp(type, chips[i]) == 0)
            return 1;
    return 0;
}

static void find_zone(char *path, const char *root, unsigned int cpu)
{
    char at[SYSFS_PATH_BYTES], type[NAME_BYTES];
    int best = 0;

    for (int zone = 0; zone < ZONES_MAX; zone++) {
        snprintf(at, sizeof at, "%s/class/thermal/thermal_zone%d/type", root, zone);
        if (!sysfs_read(at, type, sizeof type) || fitness(type, cpu) <= best)
            continue;
        best = fitness(type, cpu);
        snprintf(path, SYSFS_PATH_BYTES, "%s/class/thermal/thermal_zone%d/temp", root, zone);
    }
}

int32_t wb_host_temperature_mc(uint32_t core)
{
    char text[NAME_BYTES], *end;

    if (core >= s.n_zones || s.zones[core][0] == '\0' ||
        !sysfs_read(s.zones[core], text, sizeof text))
        return WB_NO_TEMPERATURE;
    const long mc = strtol(text, &end, 10);
    return end != text && *end == '\0' && mc > -300000 && mc < 1000000 ? (int32_t)mc
                                                                       : WB_NO_TEMPERATURE;
}

int32_t wb_kernel_temperature_mc(void)
{
    return wb_host_temperature_mc(wb_kernel_core());
}

// ---- Energy -------------------------------------------------------------------------------------

// Packages only: their parts are in them already, and `psys` has them in it.
static void add_package(const char *root, int number)
{
    struct package *package = &s.packages[s.n_packages];
    char path[SYSFS_PATH_BYTES], name[NAME_BYTES];

    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:%d/name", root, number);
    if (!sysfs_read(path, name, sizeof name) || strncmp(name, "package", 7) != 0)
        return;
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:%d/max_energy_range_uj", root,
             number);
    snprintf(package->path, sizeof package->path, "%s/class/powercap/intel-rapl:%d/energy_uj", root,
             number);
    s.n_packages += sysfs_read_number(path, &package->range_uj) &&
                    sysfs_read_number(package->path, &package->last_uj);
}

// The counters wrap within minutes: called more often than that.
const char *wb_host_energy(uint64_t *uj)
{
    for (uint32_t i = 0; i < s.n_packages; i++) {
        struct package *package = &s.packages[i];
        uint64_t now_uj;
        if (!sysfs_read_number(package->path, &now_uj))
            continue;
        s.total_uj +=
            now_uj - package->last_uj + (now_uj < package->last_uj ? package->range_uj : 0);
        package->last_uj = now_uj;
    }
    *uj = s.total_uj;
    return s.n_packages != 0 ? "powercap" : "";
}

void sensors_open(const char *root, const unsigned int *cpus, const uint32_t *guest, uint32_t n)
{
    free(s.zones);
    memset(&s, 0, sizeof s);
    s.zones = calloc(n, sizeof *s.zones);
    s.n_zones = s.zones != NULL ? n : 0;
    for (uint32_t i = 0; i < s.n_zones; i++)
        if (guest[i] == 0)
            find_zone(s.zones[i], root, cpus[i]);
    for (int i = 0; i < PACKAGES_MAX; i++)
        add_package(root, i);
}

// ---- What the launcher tells --------------------------------------------------------------------

struct wb_residence wb_host_residence(const struct wb_core *core, uint32_t point, uint64_t now_ns)
{
    return wb_core_residence(core, point, now_ns);
}

uint64_t wb_host_core_energy(const struct wb_core *core, uint64_t now_ns)
{
    return wb_core_energy(core, now_ns);
}
