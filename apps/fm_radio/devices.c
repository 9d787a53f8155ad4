// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "devices.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

const struct fm_devices *fm_devices_load(struct wb_app *app)
{
    static const char here;
    char path[PATH_BYTES];
    Dl_info module;

    if (!dladdr(&here, &module) || !strrchr(module.dli_fname, '/')) {
        snprintf(app->error, sizeof app->error, "the module does not find its own folder");
        return NULL;
    }
    const int folder = (int)(strrchr(module.dli_fname, '/') - module.dli_fname);
    snprintf(path, sizeof path, "%.*s/fm_radio_live.so", folder, module.dli_fname);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct fm_devices *devices = library ? dlsym(library, "fm_devices") : NULL;

    if (!devices)
        snprintf(app->error, sizeof app->error,
                 "live sources and sound cards need a library: %.150s: build it by `make build`",
                 dlerror());
    return devices;
}
