// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "tell.h"
#include "wb/energy.h"

void tell_core_power(FILE *out, const struct wb_core *core)
{
    const uint32_t present = atomic_load_explicit(&core->point, memory_order_acquire);
    const uint64_t now_ns = wb_kernel_now_ns();
    const int32_t mc = wb_host_temperature_mc(core->index);

    fprintf(out, ",\"hz\":%" PRIu64 ",\"energy_uj\":%" PRIu64 ",\"points\":[",
            core->n_points != 0 ? core->points[present].hz : 0, wb_host_core_energy(core, now_ns));
    for (uint32_t i = 0; i < core->n_points; i++) {
        const struct wb_residence at = wb_core_residence(core, i, now_ns);
        fprintf(out, "%s{\"hz\":%" PRIu64 ",\"active_ns\":%" PRIu64 ",\"idle_ns\":%" PRIu64 "}",
                i == 0 ? "" : ",", core->points[i].hz, at.active_ns, at.idle_ns);
    }
    if (mc == WB_NO_TEMPERATURE)
        fputs("],\"temperature_mc\":null", out);
    else
        fprintf(out, "],\"temperature_mc\":%" PRId32, mc);
}

static bool has_power(const struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_cores; i++)
        for (uint32_t j = 0; j < system->cores[i]->n_points; j++)
            if (system->cores[i]->points[j].active_uw != 0)
                return true;
    return false;
}

void tell_energy(FILE *out, const struct wb_system *system)
{
    uint64_t machine_uj;
    const char *source = wb_host_energy(&machine_uj);

    fprintf(out, ",\"energy_source\":\"%s\",\"machine_energy_uj\":%" PRIu64,
            has_power(system) && source[0] != 's' ? "platform" : source, machine_uj);
}
