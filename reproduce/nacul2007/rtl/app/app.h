// SPDX-License-Identifier: Apache-2.0
// An application of apps/, its tasks unchanged, over rtos.h: what its app.toml says, as tables.
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stdint.h>

#include "rtos.h"
#include "wb/wb.h"

enum { APP_PORTS_MAX = 16 };  // of a task

struct app_task {
    const char *name;
    wb_task_entry *entry;
    uint32_t cores;  // where it may run if each task has its core
};

// From a port of a task to one of another, by the tasks' places in their table.
struct app_channel {
    uint32_t from, to;
    const char *out, *in;
    uint32_t slot_bytes;
    uint32_t initial;  // messages of zeros that are there at the start
};

struct app_param {
    const char *key, *text;
    const double *elements;
    uint32_t n;
    double number;
};

/// Which the application has; app_define() is called first, and may compute them.
extern struct app_task app_tasks[];
extern struct app_channel app_channels[];
extern struct app_param app_params[];
extern uint32_t app_n_tasks, app_n_channels, app_n_params;

/// Context: program_setup(). `lanes`: how often what the application has several times is there.
void app_define(uint32_t lanes);

/// How many of what the paper counts are done.
uint32_t app_done(const struct wb_app *app);

/// Sets the parameter of a key.
void app_set(const char *key, double number);

/// Memory that tasks on several cores share, zeroed, in lines of the caches of its own.
///
/// Context: program_setup().
void *app_shared(uint32_t bytes);

struct app_link;

/// A channel as two ports: messages, or the numbers of slots with them, one way, and what is free
/// the other way.
struct app_link *app_link(const struct app_channel *channel);

/// One end of it.
struct wb_port {
    const char *name;
    uint32_t index;  // among the ports of this name
    struct app_link *link;
    void *slot;      // that is claimed, or held
    uint32_t count;  // of messages that were sent, or received
    bool is_input;
    uint32_t message[4];
};

void port_open(struct wb_port *port, struct app_link *link);

struct wb_task {
    const struct app_task *about;
    struct wb_app *app;
    void *state;
    struct wb_port ports[APP_PORTS_MAX];
    uint32_t n_ports;
};

#endif
