// SPDX-License-Identifier: Apache-2.0
// Residency and energy (acquaviva2008 sections 5 and 6: power by figure 5, times time).

#include "wb/system.h"

#include "../base/base.h"

enum { NS_PER_S = 1000000000 };

static bool ascend(const struct wb_point *points, uint32_t n_points)
{
    for (uint32_t i = 0; i < n_points; i++)
        if (points[i].hz <= (i == 0 ? 0 : points[i - 1].hz))
            return false;
    return n_points != 0;
}

enum wb_status wb_core_set_points(struct wb_core *core, const struct wb_point *points,
                                  uint32_t n_points, uint32_t start)
{
    if (!ascend(points, n_points) || start >= n_points)
        return WB_ERR_INVAL;
    if (n_points > 1 && (wb_core_can(core) & WB_CAN_SET_POINTS) == 0)
        return WB_ERR_UNABLE;
    struct wb_point *copy =
        wb_system_alloc(core->system, n_points * sizeof *copy, _Alignof(struct wb_point));
    core->residency =
        wb_system_alloc(core->system, n_points * sizeof *core->residency, WB_LINE_BYTES);
    if (copy == NULL || core->residency == NULL)
        return WB_ERR_NOMEM;
    for (uint32_t i = 0; i < n_points; i++)
        copy[i] = points[i];
    core->points = copy;
    core->n_points = n_points;
    wb_word_init(&core->point, start);
    wb_word_init(&core->wanted_point, start);
    return WB_OK;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

// What a core did that no point has been given yet.
static struct wb_residence open_residence(const struct wb_core *core, uint64_t now_ns)
{
    const uint64_t active_ns =
        wb_counter_get(&core->stats.busy_ns) + wb_counter_get(&core->stats.polling_ns);
    struct wb_residence open = { .active_ns = active_ns,
                                 .idle_ns = less(less(now_ns, core->system->start_ns), active_ns) };

    for (uint32_t i = 0; i < core->n_points; i++) {
        open.active_ns = less(open.active_ns, wb_counter_get(&core->residency[i].active_ns));
        open.idle_ns = less(open.idle_ns, wb_counter_get(&core->residency[i].idle_ns));
    }
    return open;
}

void wb_core_enter_point(struct wb_core *core, uint32_t point, uint64_t now_ns)
{
    struct wb_task *self = wb_kernel_self();
    struct wb_residency *last = &core->residency[wb_word_load(&core->point, WB_RELAXED)];

    if (self != NULL) {
        wb_counter_add(&core->stats.busy_ns, wb_task_count(self, core, now_ns));
    }
    const struct wb_residence open = open_residence(core, now_ns);
    wb_counter_add(&last->active_ns, open.active_ns);
    wb_counter_add(&last->idle_ns, open.idle_ns);
    // Release: whoever sees the new point sees what was settled for the last one, and does not
    // take it for the new one's.
    wb_word_store(&core->point, point, WB_RELEASE);
}

struct wb_residence wb_core_residence(const struct wb_core *core, uint32_t point, uint64_t now_ns)
{
    // Acquire: see wb_core_enter_point().
    const uint32_t present = wb_word_load(&core->point, WB_ACQUIRE);
    const struct wb_residency *settled = &core->residency[point];
    struct wb_residence at = { .active_ns = wb_counter_get(&settled->active_ns),
                               .idle_ns = wb_counter_get(&settled->idle_ns) };

    if (point == present) {
        const struct wb_residence open = open_residence(core, now_ns);
        at.active_ns += open.active_ns;
        at.idle_ns += open.idle_ns;
    }
    return at;
}

// Seconds and the rest apart: neither product passes 64 bits in a run of a century.
static uint64_t energy_uj(uint64_t ns, uint32_t uw)
{
    return ns / NS_PER_S * uw + ns % NS_PER_S * uw / NS_PER_S;
}

uint64_t wb_core_energy(const struct wb_core *core, uint64_t now_ns)
{
    uint64_t uj = 0;

    for (uint32_t i = 0; i < core->n_points; i++) {
        const struct wb_residence at = wb_core_residence(core, i, now_ns);
        uj += energy_uj(at.active_ns, core->points[i].active_uw) +
              energy_uj(at.idle_ns, core->points[i].idle_uw);
    }
    return uj;
}
