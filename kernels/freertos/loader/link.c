// SPDX-License-Identifier: Apache-2.0
// Symbols and relocations.

#include <string.h>

#include "image.h"

// ---- Exports ------------------------------------------------------------------------------------

static const struct wb_export *find_export(const struct wb_linkage *linkage, const char *name)
{
    const struct wb_export *low = linkage->exports, *high = linkage->exports_end;

    while (low != high) {
        const struct wb_export *middle = low + (high - low) / 2;
        const int order = strcmp(name, middle->name);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

// ---- Symbols ------------------------------------------------------------------------------------

static enum wb_status import(const struct image *image, const struct symbol *symbol,
                             uint32_t *address, bool *nowhere)
{
    const struct wb_export *found = find_export(image->request->linkage, symbol->name);

    *nowhere = found == NULL;
    *address = found != NULL ? (uint32_t)found->address : 0;
    if (found != NULL || symbol->bind == BIND_WEAK)
        return WB_OK;
    return image_refuse(image,
                        "symbol %s is unknown: link it into the module, or have the kernel export "
                        "it by WB_EXPORT(%s)",
                        symbol->name, symbol->name);
}

// Symbol 0 is none: an absolute 0.
static enum wb_status resolve(const struct image *image, uint32_t i, uint32_t *address,
                              bool *nowhere)
{
    const struct symbol symbol = image_symbol(image, i);

    *nowhere = false;
    *address = symbol.value;
    if (i == 0 || symbol.section == SECTION_ABSOLUTE)
        return WB_OK;
    if (symbol.section == SECTION_UNDEFINED)
        return import(image, &symbol, address, nowhere);
    if (symbol.section == SECTION_COMMON)
        return image_refuse(image, "variable %s has no place: compile with -fno-common",
                            symbol.name);
    if (symbol.section >= image->n_sections || image->at[symbol.section] == NOT_LOADED ||
        symbol.value > image_section(image, symbol.section).size)
        return image_refuse(image, "symbol %s lies outside of what is loaded", symbol.name);
    *address += image->request->address + (uint32_t)image->at[symbol.section];
    return WB_OK;
}

enum wb_status image_find(const struct image *image, const char *name, uint32_t *entry)
{
    bool nowhere;

    for (uint32_t i = 1; i < image->n_symbols; i++) {
        const struct symbol symbol = image_symbol(image, i);
        if (symbol.section == SECTION_UNDEFINED || symbol.type != SYMBOL_FUNCTION ||
            symbol.bind != BIND_GLOBAL || strcmp(symbol.name, name) != 0)
            continue;
        if (symbol.section >= image->n_sections ||
            (image_section(image, symbol.section).flags & FLAG_EXECUTE) == 0)
            return image_refuse(image, "function %s lies outside of its code", name);
        return resolve(image, i, entry, &nowhere);
    }
    return image_refuse(image, "it has no function %s: it must not be static", name);
}

// ---- Relocations --------------------------------------------------------------------------------

// Where a relocation stands, for whoever has to look there.
struct where {
    uint32_t section, offset, type, symbol;
};

static enum wb_status refuse_at(const struct image *image, const struct where *where,
                                const char *what)
{
    return image_refuse(image, "relocation of type %u at %x of %s%s%s %s",
                        (unsigned int)where->type, (unsigned int)where->offset,
                        image_section_name(image, where->section),
                        where->symbol != 0 ? ", by symbol " : "",
                        where->symbol != 0 ? image_symbol(image, where->symbol).name : "", what);
}

// What changes are the bytes of the file, also where memory has them already: it may have another
// relocation of the same place by then, and what was checked must be what is done.
static enum wb_status relocate(struct image *image, const struct where *where,
                               struct wb_fixup fixup)
{
    const struct wb_machine *machine = image->request->linkage->machine;
    const struct section section = image_section(image, where->section);
    const uint32_t size = section.size;
    const int width = machine->width(where->type);
    unsigned char copy[4];

    if (where->symbol >= image->n_symbols)
        return image_refuse(image, "a relocation of %s is by a symbol that does not exist",
                            image_section_name(image, where->section));
    if (width < 0)
        return refuse_at(image, where, "is not known: compile without -fPIC, for this processor");
    if (width == 0)
        return WB_OK;
    if (where->offset > size || (uint32_t)width > size - where->offset)
        return refuse_at(image, where, "reaches beyond its section");
    const enum wb_status status = resolve(image, where->symbol, &fixup.target, &fixup.nowhere);
    if (status != WB_OK)
        return status;
    fixup.type = where->type;
    memcpy(copy, image->bytes + section.offset + where->offset, (size_t)width);
    fixup.at = copy;
    fixup.place = image->request->address + (uint32_t)image->at[where->section] + where->offset;
    fixup.veneers = &image->veneers;
    const char *wrong = machine->apply(&fixup);
    if (wrong != NULL)
        return refuse_at(image, where, wrong);
    if (image->to != NULL)
        memcpy(image->to + image->at[where->section] + where->offset, copy, (size_t)width);
    return WB_OK;
}

static enum wb_status link_section(struct image *image, const struct section *table)
{
    const bool has_addend = table->type == TYPE_RELA;
    const uint32_t bytes = has_addend ? RELA_BYTES : REL_BYTES;
    enum wb_status status = WB_OK;

    for (uint32_t i = 0; i < table->size / bytes && status == WB_OK; i++) {
        const unsigned char *entry = image->bytes + table->offset + i * bytes;
        const uint32_t info = wb_get32(entry + REL_INFO);
        status =
            relocate(image,
                     &(struct where){ .section = table->info,
                                      .offset = wb_get32(entry),
                                      .type = info & 0xff,
                                      .symbol = info >> 8 },
                     (struct wb_fixup){ .has_addend = has_addend,
                                        .addend = has_addend ? wb_get32(entry + RELA_ADDEND) : 0 });
    }
    return status;
}

enum wb_status image_link(struct image *image)
{
    enum wb_status status = WB_OK;

    image->veneers.used = 0;
    for (uint32_t i = 0; i < image->n_sections && status == WB_OK; i++) {
        const struct section table = image_section(image, i);
        if (section_is_relocations(&table) && image->at[table.info] != NOT_LOADED)
            status = link_section(image, &table);
    }
    return status;
}
