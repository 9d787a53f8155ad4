// SPDX-License-Identifier: Apache-2.0
// What the command is told of a system. With the stub of the unit tests, for a launcher that reads
// the middleware's counters.

#define _GNU_SOURCE
#include "emit.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "wb/launcher.h"

enum { START_NS = 500, SECOND_NS = 1000000000, LINE_BYTES = 8 << 10 };

static struct teller teller;

struct wb_system *wb_host_system(struct wb_host *host)
{
    (void)host;
    return stub.system;
}

size_t wb_host_gvm_bytes(const struct wb_host *host)
{
    (void)host;
    return 0;
}

pid_t wb_host_pid(const struct wb_host *host, uint32_t core)
{
    (void)host;
    (void)core;
    return 0;
}

const char *wb_host_clock(const struct wb_host *host)
{
    (void)host;
    return "counter";
}

uint32_t wb_host_stalled_ms(const struct wb_task *task)
{
    (void)task;
    return 0;
}

int32_t wb_host_temperature_mc(uint32_t core)
{
    (void)core;
    return WB_NO_TEMPERATURE;
}

struct wb_residence wb_host_residence(const struct wb_core *core, uint32_t point, uint64_t now_ns)
{
    return wb_core_residence(core, point, now_ns);
}

uint64_t wb_host_core_energy(const struct wb_core *core, uint64_t now_ns)
{
    return wb_core_energy(core, now_ns);
}

const char *wb_host_energy(uint64_t *uj)
{
    *uj = 0;
    return "";
}

static uint64_t number_at(yyjson_doc *said, const char *pointer)
{
    return yyjson_get_uint(yyjson_doc_ptr_get(said, pointer));
}

// A board's launcher takes long to format the answer, while time passes.
TEST(the_totals_at_the_end_are_of_the_time_at_which_the_kernels_ended)
{
    const struct wb_point point = { .hz = 1000000, .active_uw = 1000000, .idle_uw = 100000 };
    struct wb_system *system = stub_system(2);
    char line[LINE_BYTES] = "";

    for (uint32_t i = 0; i < system->n_cores; i++)
        CHECK(wb_core_set_points(system->cores[i], &point, 1, 0) == WB_OK);
    CHECK(wb_system_start(system, START_NS) == WB_OK);
    stub.now_ns = START_NS + 5ull * SECOND_NS;
    teller.file = fmemopen(line, sizeof line, "w");
    emit_end(&teller, system, START_NS + SECOND_NS, true);
    fclose(teller.file);

    yyjson_doc *said = yyjson_read(line, strlen(line), 0);
    CHECK(said != NULL);
    CHECK(number_at(said, "/end/status/time_ns") == START_NS + SECOND_NS);
    CHECK(number_at(said, "/end/status/cores/0/points/0/idle_ns") == SECOND_NS);
    CHECK(number_at(said, "/end/status/cores/0/energy_uj") == 100000);
    CHECK(number_at(said, "/end/status/cores/1/energy_uj") == 100000);
    yyjson_doc_free(said);
}
