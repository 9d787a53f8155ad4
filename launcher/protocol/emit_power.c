// SPDX-License-Identifier: Apache-2.0
#include "emit.h"
#include "wb/system.h"

void emit_core_power(struct members *out, const struct wb_core *core, uint64_t now_ns)
{
    const uint32_t present = wb_word_load(&core->point, WB_ACQUIRE);
    const int32_t mc = wb_host_temperature_mc(core->index);

    number(out, "hz", core->n_points != 0 ? core->points[present].hz : 0);
    number(out, "energy_uj", wb_host_core_energy(core, now_ns));
    yyjson_mut_val *points = list(out, "points");
    for (uint32_t i = 0; i < core->n_points; i++) {
        const struct wb_residence at = wb_host_residence(core, i, now_ns);
        struct members point = element(out, points);
        number(&point, "hz", core->points[i].hz);
        number(&point, "active_ns", at.active_ns);
        number(&point, "idle_ns", at.idle_ns);
    }
    if (mc == WB_NO_TEMPERATURE)
        nothing(out, "temperature_mc");
    else
        negative(out, "temperature_mc", mc);
}

static bool has_power(const struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_cores; i++)
        for (uint32_t j = 0; j < system->cores[i]->n_points; j++)
            if (system->cores[i]->points[j].active_uw != 0)
                return true;
    return false;
}

void emit_energy(struct members *out, const struct wb_system *system)
{
    uint64_t machine_uj;
    const char *source = wb_host_energy(&machine_uj);

    text(out, "energy_source", has_power(system) && source[0] != 's' ? "platform" : source);
    number(out, "machine_energy_uj", machine_uj);
}
