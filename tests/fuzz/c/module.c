// SPDX-License-Identifier: Apache-2.0
// A module that a kernel loads: it is refused, or lies within the memory that there is for it.
#include "modules.h"
#include "target.h"

enum { ROOM = 4 * WB_MODULE_PAGE_BYTES };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char why[WB_MODULE_WHY_BYTES] = "";
    unsigned char *room = malloc(ROOM);
    const struct wb_module_file file = { "fuzzed", data, bytes };
    const struct wb_module_request request = { .linkage = &the_kernel,
                                               .file = &file,
                                               .address = MODULE_ADDRESS,
                                               .entry = "task",
                                               .why = why };
    struct wb_module module;

    MUST(room != NULL);
    memset(room, 0xaa, ROOM);
    const enum wb_status status = wb_module_load(&request, room, ROOM, &module);
    MUST(status == WB_OK || status == WB_ERR_INVAL || status == WB_ERR_NOMEM);
    if (status == WB_OK)
        MUST(module.bytes <= ROOM && module.fixed_bytes <= module.bytes);
    else
        MUST(room[0] == 0xaa && room[ROOM / 2] == 0xaa && room[ROOM - 1] == 0xaa);
    MUST(status != WB_ERR_INVAL || strncmp(why, "module fuzzed: ", 15) == 0);
    free(room);
    return 0;
}
