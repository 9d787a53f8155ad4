// SPDX-License-Identifier: Apache-2.0
// cpufreq, thermal zones and powercap on a made-up tree below a folder of its own.

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "host.h"
#include "private.h"
#include "sysfs.h"

static char root[64], journal[128];
static const unsigned int cpus[] = { 2, 5 };

static const char *at(const char *name)
{
    static char path[SYSFS_PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

// Writes a file, and the folders it lies in.
static void put(const char *name, const char *value)
{
    char path[SYSFS_PATH_BYTES];

    snprintf(path, sizeof path, "%s", at(name));
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(value, file) >= 0 && fclose(file) == 0);
}

static bool says(const char *name, const char *value)
{
    char text[256];

    return sysfs_read(at(name), text, sizeof text) && strcmp(text, value) == 0;
}

static void put_cpu(unsigned int cpu, const char *attribute, const char *value)
{
    char name[128];

    snprintf(name, sizeof name, "devices/system/cpu/cpu%u/cpufreq/%s", cpu, attribute);
    put(name, value);
}

static bool cpu_says(unsigned int cpu, const char *attribute, const char *value)
{
    char name[128];

    snprintf(name, sizeof name, "devices/system/cpu/cpu%u/cpufreq/%s", cpu, attribute);
    return says(name, value);
}

// Two processors from 800 MHz to 2 GHz under the governor `schedutil`.
static void make_tree(const char *governors)
{
    snprintf(root, sizeof root, "/tmp/wb-sysfs-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    snprintf(journal, sizeof journal, "%s/journal", root);
    for (int i = 0; i < 2; i++) {
        put_cpu(cpus[i], "scaling_min_freq", "800000\n");
        put_cpu(cpus[i], "scaling_max_freq", "2000000\n");
        put_cpu(cpus[i], "scaling_governor", "schedutil\n");
        put_cpu(cpus[i], "scaling_setspeed", "<unsupported>\n");
        put_cpu(cpus[i], "scaling_available_governors", governors);
    }
}

static void remove_tree(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", root);
    CHECK(system(command) == 0);
}

static bool is_as_before(unsigned int cpu)
{
    return cpu_says(cpu, "scaling_min_freq", "800000") &&
           cpu_says(cpu, "scaling_max_freq", "2000000") &&
           cpu_says(cpu, "scaling_governor", "schedutil");
}

static const char *open_both(unsigned int *bad)
{
    return cpufreq_open(root, cpus, 2, journal, bad);
}

TEST(the_governor_userspace_sets_a_speed_and_everything_is_put_back)
{
    unsigned int bad;

    make_tree("performance userspace schedutil\n");
    CHECK(open_both(&bad) == NULL);
    CHECK(access(journal, F_OK) == 0);
    CHECK(cpu_says(5, "scaling_governor", "userspace"));
    CHECK(cpufreq_set(1, 1200000000));
    CHECK(cpu_says(5, "scaling_setspeed", "1200000"));
    CHECK(cpu_says(2, "scaling_setspeed", "<unsupported>"));
    CHECK(cpufreq_restore(journal));
    CHECK(is_as_before(2) && is_as_before(5) && access(journal, F_OK) != 0);
    remove_tree();
}

TEST(without_userspace_the_limits_clamp_up_and_down)
{
    unsigned int bad;

    make_tree("performance powersave\n");
    CHECK(open_both(&bad) == NULL);
    CHECK(cpufreq_set(0, 900000000) && cpufreq_set(0, 1800000000));
    CHECK(cpu_says(2, "scaling_min_freq", "1800000"));
    CHECK(cpu_says(2, "scaling_max_freq", "1800000"));
    CHECK(cpufreq_set(0, 1000000000));
    CHECK(cpu_says(2, "scaling_min_freq", "1000000"));
    CHECK(cpu_says(2, "scaling_max_freq", "1000000"));
    CHECK(cpu_says(2, "scaling_governor", "schedutil"));
    CHECK(cpufreq_restore(journal));
    CHECK(is_as_before(2) && is_as_before(5));
    remove_tree();
}

TEST(a_speed_set_by_hand_is_put_back)
{
    unsigned int bad;

    make_tree("userspace\n");
    put_cpu(2, "scaling_governor", "userspace\n");
    put_cpu(2, "scaling_setspeed", "1500000\n");
    CHECK(open_both(&bad) == NULL && cpufreq_set(0, 800000000));
    CHECK(cpufreq_restore(journal));
    CHECK(cpu_says(2, "scaling_setspeed", "1500000"));
    remove_tree();
}

TEST(a_processor_without_cpufreq_is_named_and_nothing_is_changed)
{
    const unsigned int three[] = { 2, 5, 7 };
    unsigned int bad;

    make_tree("userspace\n");
    CHECK(cpufreq_open(root, three, 3, journal, &bad) != NULL);
    CHECK(bad == 7 && is_as_before(2) && is_as_before(5) && access(journal, F_OK) != 0);
    remove_tree();
}

TEST(two_cores_of_one_processor_cannot_have_two_frequencies)
{
    const unsigned int twice[] = { 5, 5 };
    unsigned int bad;

    make_tree("userspace\n");
    CHECK(cpufreq_open(root, twice, 2, journal, &bad) != NULL && bad == 5);
    remove_tree();
}

TEST(what_cannot_be_noted_is_not_changed)
{
    unsigned int bad;

    make_tree("userspace\n");
    snprintf(journal, sizeof journal, "%s/no/such/folder", root);
    CHECK(open_both(&bad) != NULL && is_as_before(2) && is_as_before(5));
    remove_tree();
}

TEST(a_journal_that_is_not_there_puts_nothing_back)
{
    make_tree("userspace\n");
    CHECK(!cpufreq_restore(journal));
    remove_tree();
}

TEST(each_core_has_its_own_sensor_or_that_of_its_chip)
{
    make_tree("userspace\n");
    put("class/thermal/thermal_zone0/type", "acpitz\n");
    put("class/thermal/thermal_zone0/temp", "20000\n");
    put("class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    put("class/thermal/thermal_zone1/temp", "51000\n");
    put("class/thermal/thermal_zone3/type", "cpu5-thermal\n");
    put("class/thermal/thermal_zone3/temp", "-3500\n");
    sensors_open(root, cpus, (uint32_t[2]){ 0 }, 2);
    CHECK(wb_host_temperature_mc(0) == 51000);
    CHECK(wb_host_temperature_mc(1) == -3500);
    CHECK(wb_host_temperature_mc(2) == WB_NO_TEMPERATURE);
    put("class/thermal/thermal_zone1/temp", "hot\n");
    CHECK(wb_host_temperature_mc(0) == WB_NO_TEMPERATURE);
    remove_tree();
}

TEST(a_machine_without_sensors_has_no_temperature_and_no_energy)
{
    uint64_t uj;

    make_tree("userspace\n");
    put("class/thermal/thermal_zone0/type", "acpitz\n");
    put("class/thermal/thermal_zone0/temp", "20000\n");
    sensors_open(root, cpus, (uint32_t[2]){ 0 }, 2);
    CHECK(wb_host_temperature_mc(0) == WB_NO_TEMPERATURE);
    CHECK(wb_host_energy(&uj)[0] == '\0' && uj == 0);
    remove_tree();
}

TEST(energy_adds_up_over_packages_and_past_the_end_of_their_counters)
{
    uint64_t uj;

    make_tree("userspace\n");
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = { "package-0\n", "package-1\n", "psys\n" };
        char name[128];
        snprintf(name, sizeof name, "class/powercap/intel-rapl:%d/name", i);
        put(name, names[i]);
        snprintf(name, sizeof name, "class/powercap/intel-rapl:%d/max_energy_range_uj", i);
        put(name, "1000\n");
        snprintf(name, sizeof name, "class/powercap/intel-rapl:%d/energy_uj", i);
        put(name, "900\n");
    }
    sensors_open(root, cpus, (uint32_t[2]){ 0 }, 2);
    CHECK(wb_host_energy(&uj)[0] != '\0' && uj == 0);
    put("class/powercap/intel-rapl:0/energy_uj", "950\n");
    put("class/powercap/intel-rapl:1/energy_uj", "100\n");
    put("class/powercap/intel-rapl:2/energy_uj", "999\n");
    CHECK(wb_host_energy(&uj)[0] != '\0' && uj == 50 + 200);
    put("class/powercap/intel-rapl:1/energy_uj", "110\n");
    CHECK(wb_host_energy(&uj)[0] != '\0' && uj == 260);
    remove_tree();
}
