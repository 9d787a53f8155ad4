// SPDX-License-Identifier: Apache-2.0
// The loader of modules: tasks compiled apart from the kernel, as relocatable ELF for 32 bits, and
// linked at run time with the functions that a kernel exports (holmbacka2013 section V).
//
// Everything is checked before anything is written: whatever the bytes are, the loader reads within
// the file and writes within the memory that it is given. It needs no operating system, allocates
// nothing, and also works for a processor other than the one it runs on.
#ifndef WB_LOADER_H
#define WB_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"

struct wb_machine;

enum {
    WB_MODULE_PAGE_BYTES = 4096,     // code and constants end at one, and so does all of it
    WB_MODULE_MOST_BYTES = 8 << 20,  // in memory: within it, every call reaches every veneer
    WB_MODULE_WHY_BYTES = 200,
};

// A function or variable of a kernel, for modules. See export.h.
struct wb_export {
    const char *name;
    uintptr_t address;
};

struct wb_module_file {
    const char *name;
    const void *bytes;
    size_t size;
};

// What to link with; the same for all modules of a kernel.
struct wb_linkage {
    const struct wb_machine *machine;
    const struct wb_export *exports, *exports_end;  // in the order of their names
};

struct wb_module_request {
    const struct wb_linkage *linkage;
    const struct wb_module_file *file;
    uint32_t address;   // where the module is to lie, a multiple of a page
    const char *entry;  // the name of the function that is wanted of it
    char *why;          // WB_MODULE_WHY_BYTES: what is refused, and where, in words for the user
};

struct wb_module {
    size_t fixed_bytes;  // code, constants and veneers: whole pages, at the beginning
    size_t bytes;        // all of it
    uint32_t entry;      // of an instruction; odd: in Thumb state
};

/// Checks whether a module can be loaded, and says how much memory it takes.
///
/// Context: any. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL with the reason in `why`.
WB_MUST_USE enum wb_status wb_module_check(const struct wb_module_request *request,
                                           struct wb_module *module);

/// Checks a module again, lays it out, and links it. Whoever made the memory executable brings
/// caches up to date afterwards.
///
/// Context: any. Never blocks; takes time in proportion to the size of the module.
/// Memory:  `to` is where the memory for `request->address` can be written; `bytes` are free there.
/// Returns: WB_OK; WB_ERR_INVAL as wb_module_check(), or WB_ERR_NOMEM if `bytes` are too few, and
///          then nothing was written.
WB_MUST_USE enum wb_status wb_module_load(const struct wb_module_request *request, void *to,
                                          size_t bytes, struct wb_module *module);

#endif
