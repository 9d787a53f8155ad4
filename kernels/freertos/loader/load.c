// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "image.h"

enum { FILE_MOST_BYTES = 8 * WB_MODULE_MOST_BYTES };

static bool are_in_order(const struct wb_linkage *linkage)
{
    const struct wb_export *e = linkage->exports;

    for (; e != linkage->exports_end && e + 1 != linkage->exports_end; e++)
        if (strcmp(e->name, e[1].name) >= 0)
            return false;
    return true;
}

static enum wb_status check_image(struct image *image, struct wb_module *module)
{
    const struct wb_module_request *request = image->request;
    enum wb_status status;

    if (!are_in_order(request->linkage))
        return image_refuse(image, "the kernel's exports are not in order: sort .wb_exports.* in "
                                   "its linker script");
    status = request->file->size <= FILE_MOST_BYTES ? image_check(image)
                                                    : image_refuse(image, "it is too large");
    if (status == WB_OK)
        status = image_find(image, request->entry, &module->entry);
    if (status == WB_OK)
        status = image_link(image);
    module->fixed_bytes = image->fixed_bytes;
    module->bytes = image->n_bytes;
    return status;
}

static struct image of(const struct wb_module_request *request)
{
    return (struct image){ .request = request,
                           .bytes = request->file->bytes,
                           .size = (uint32_t)request->file->size };
}

enum wb_status wb_module_check(const struct wb_module_request *request, struct wb_module *module)
{
    struct image image = of(request);

    return check_image(&image, module);
}

static void copy(const struct image *image)
{
    memset(image->to, 0, image->n_bytes);
    for (uint32_t i = 0; i < image->n_sections; i++) {
        const struct section section = image_section(image, i);
        if (image->at[i] != NOT_LOADED && section.type != TYPE_ZEROS)
            memcpy(image->to + image->at[i], image->bytes + section.offset, section.size);
    }
}

enum wb_status wb_module_load(const struct wb_module_request *request, void *to, size_t bytes,
                              struct wb_module *module)
{
    struct image image = of(request);
    const enum wb_status status = check_image(&image, module);

    if (status != WB_OK)
        return status;
    if (module->bytes > bytes) {
        (void)image_refuse(&image, "it takes %u KiB of memory, and there are %u",
                           (unsigned int)(module->bytes >> 10), (unsigned int)(bytes >> 10));
        return WB_ERR_NOMEM;
    }
    image.to = to;
    image.veneers.memory = image.to + (image.veneers.address - request->address);
    copy(&image);
    return image_link(&image);
}
