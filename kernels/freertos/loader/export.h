// SPDX-License-Identifier: Apache-2.0
// How a kernel, or an application linked with it, exports a function or a variable to modules:
//
//   WB_EXPORT(measure);                 modules call it as measure
//   WB_EXPORT_AS(malloc, wb_malloc);    modules call wb_malloc by the name malloc
//
// Each makes one entry in a section of its own, and the linker puts them in the order of their
// names, as the loader needs them:
//
//   wb_exports_begin = .; KEEP(*(SORT_BY_NAME(.wb_exports.*))) wb_exports_end = .;
#ifndef WB_EXPORT_H
#define WB_EXPORT_H

#include "loader.h"

#define WB_EXPORT_AS(symbol, object)                                                               \
    static const struct wb_export wb_export_##symbol                                               \
        __attribute__((used, section(".wb_exports." #symbol))) = { #symbol, (uintptr_t)(object) }

#define WB_EXPORT(symbol) WB_EXPORT_AS(symbol, &symbol)

extern const struct wb_export wb_exports_begin[], wb_exports_end[];

#endif
