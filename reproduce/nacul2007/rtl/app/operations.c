// SPDX-License-Identifier: Apache-2.0
// What each operation on a channel takes that does not wait: a line `cost NAME CYCLES` for each
// sample. One task sends to itself; the clock is read by one instruction.
#include "app.h"
#include "soc.h"

enum { SAMPLES = 64, WARM = 8, SMALL = 4, LARGE = 1024 };

static int measure(struct wb_task *self);

static bool failed;
static uint32_t port;  // without a channel

struct app_task app_tasks[] = { { "measure", measure, 1 } };
struct app_channel app_channels[] = { { 0, 0, "small", "small_in", SMALL, 0 },
                                      { 0, 0, "large", "large_in", LARGE, 0 } };
struct app_param app_params[] = { { .key = "plays" } };
uint32_t app_n_tasks = 1, app_n_params = 1;
uint32_t app_n_channels = sizeof app_channels / sizeof app_channels[0];

static void tell(const char *name, uint32_t bytes, uint32_t begin, uint32_t end)
{
    soc_put("cost ");
    soc_put(name);
    soc_put("_");
    soc_put_number(bytes);
    soc_put(" ");
    soc_put_number(end - begin);
    soc_put("\n");
}

// Times are told when all have been taken, so that the line is not in them.
static void by_slot(struct wb_port *out, struct wb_port *in, uint32_t bytes, bool warm)
{
    void *slot;
    const void *held;
    const uint32_t begin = soc_cycles();
    failed |= wb_port_claim(out, &slot, WB_FOREVER) != WB_OK;
    const uint32_t claimed = soc_cycles();
    failed |= wb_port_commit(out) != WB_OK;
    const uint32_t sent = soc_cycles();
    failed |= wb_port_hold(in, &held, WB_FOREVER) != WB_OK;
    const uint32_t holds = soc_cycles();
    failed |= wb_port_release(in) != WB_OK;
    const uint32_t end = soc_cycles();

    if (warm)
        return;
    tell("claim", bytes, begin, claimed);
    tell("commit", bytes, claimed, sent);
    tell("hold", bytes, sent, holds);
    tell("release", bytes, holds, end);
}

static void by_port(bool warm)
{
    uint32_t message = 0;
    const uint32_t begin = soc_cycles();
    rtos_send(port, &message, 1);
    const uint32_t sent = soc_cycles();
    rtos_receive(port, &message, 1);
    const uint32_t end = soc_cycles();

    if (warm)
        return;
    tell("port_send", SMALL, begin, sent);
    tell("port_receive", SMALL, sent, end);
}

static void by_copy(struct wb_port *out, struct wb_port *in, uint32_t bytes, bool warm)
{
    static uint8_t message[LARGE];
    const uint32_t begin = soc_cycles();
    failed |= wb_port_send(out, message, WB_FOREVER) != WB_OK;
    const uint32_t sent = soc_cycles();
    failed |= wb_port_receive(in, message, WB_FOREVER) != WB_OK;
    const uint32_t end = soc_cycles();

    if (warm)
        return;
    tell("send", bytes, begin, sent);
    tell("receive", bytes, sent, end);
}

static void measure_channel(struct wb_task *self, const char *out, const char *in, uint32_t bytes)
{
    for (uint32_t i = 0; i < WARM + SAMPLES; i++) {
        by_slot(wb_port_find_any(self, out, 0), wb_port_find_any(self, in, 0), bytes, i < WARM);
        by_copy(wb_port_find_any(self, out, 0), wb_port_find_any(self, in, 0), bytes, i < WARM);
    }
}

static int measure(struct wb_task *self)
{
    measure_channel(self, "small", "small_in", SMALL);
    measure_channel(self, "large", "large_in", LARGE);
    for (uint32_t i = 0; i < WARM + SAMPLES; i++)
        by_port(i < WARM);
    soc_exit(failed);
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    (void)app;
    port = rtos_port(1);
    return WB_OK;
}

enum wb_status wb_app_finish(struct wb_app *app)
{
    (void)app;
    return WB_OK;
}

void app_define(uint32_t lanes)
{
    (void)lanes;
}

uint32_t app_done(const struct wb_app *app)
{
    (void)app;
    return 0;
}
