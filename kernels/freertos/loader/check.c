// SPDX-License-Identifier: Apache-2.0
// The checks of a module's header, sections and tables, and where its sections will lie.

#include <string.h>

#include "image.h"

static enum wb_status refuse_section(const struct image *image, uint32_t i, const char *what)
{
    return image_refuse(image, "section %u (%s) %s", (unsigned int)i, image_section_name(image, i),
                        what);
}

// ---- The header ---------------------------------------------------------------------------------

static enum wb_status check_kind(const struct image *image)
{
    static const unsigned char magic[] = { 0x7f, 'E', 'L', 'F' };
    const struct wb_machine *machine = image->request->linkage->machine;
    const unsigned char *head = image->bytes;

    if (image->size < ELF_HEADER_BYTES || memcmp(head, magic, sizeof magic) != 0)
        return image_refuse(image, "it is not an ELF file");
    const uint32_t number = wb_get16(head + ELF_MACHINE);
    if (head[ELF_CLASS] != CLASS_32 || head[ELF_DATA] != DATA_LITTLE || number != machine->number)
        return image_refuse(
            image,
            "it is for machine %u of %u bits, %s-endian, not for %s: compile it for this board",
            (unsigned int)number, head[ELF_CLASS] == CLASS_32 ? 32u : 64u,
            head[ELF_DATA] == DATA_LITTLE ? "little" : "big", machine->name);
    if (head[ELF_IDENT_VERSION] != 1 || wb_get32(head + ELF_VERSION) != 1)
        return image_refuse(image, "it is of an unknown version of ELF");
    if (wb_get16(head + ELF_TYPE) != TYPE_RELOCATABLE)
        return image_refuse(image, "it is linked already, and cannot be again: link it with -r");
    const char *wrong = machine->refuses(wb_get32(head + ELF_FLAGS));
    return wrong != NULL ? image_refuse(image, "%s", wrong) : WB_OK;
}

static enum wb_status check_header(struct image *image)
{
    const enum wb_status status = check_kind(image);
    const unsigned char *head = image->bytes;

    if (status != WB_OK)
        return status;
    image->sections_at = wb_get32(head + ELF_SECTIONS_AT);
    image->n_sections = wb_get16(head + ELF_SECTIONS);
    if (image->n_sections == 0 || image->n_sections > IMAGE_SECTIONS)
        return image_refuse(image, "it has %u sections, not 1 to %u: link it with module.ld",
                            (unsigned int)image->n_sections, (unsigned int)IMAGE_SECTIONS);
    if (wb_get16(head + ELF_SECTION_BYTES) != SECTION_BYTES ||
        !image_has(image, image->sections_at, image->n_sections * SECTION_BYTES))
        return image_refuse(image, "its table of sections reaches beyond its end: it is cut off");
    return WB_OK;
}

// ---- Tables -------------------------------------------------------------------------------------

// A section of texts, the last of which ends in it.
static bool is_texts(const struct image *image, uint32_t i, struct section *out)
{
    if (i >= image->n_sections)
        return false;
    *out = image_section(image, i);
    return out->type == TYPE_TEXTS && out->size != 0 && image_has(image, out->offset, out->size) &&
           image->bytes[out->offset + out->size - 1] == 0;
}

static bool is_table(const struct image *image, const struct section *section, uint32_t entry_bytes)
{
    return section->entry_bytes == entry_bytes && section->size % entry_bytes == 0 &&
           image_has(image, section->offset, section->size);
}

static enum wb_status check_symbols(struct image *image)
{
    for (uint32_t i = 0; i < image->n_sections; i++) {
        if (image_section(image, i).type != TYPE_SYMBOLS)
            continue;
        if (image->symbols != 0)
            return refuse_section(image, i, "is a second table of symbols");
        image->symbols = i;
    }
    if (image->symbols == 0)
        return image_refuse(image, "it has no table of symbols: do not strip it");
    const struct section table = image_section(image, image->symbols);
    if (!is_table(image, &table, SYMBOL_BYTES))
        return refuse_section(image, image->symbols, "is not a whole table of symbols");
    if (!is_texts(image, table.link, &image->symbol_names))
        return refuse_section(image, image->symbols, "has no names for its symbols");
    image->n_symbols = table.size / SYMBOL_BYTES;
    return WB_OK;
}

static enum wb_status check_relocations(const struct image *image, uint32_t i,
                                        const struct section *section)
{
    if (section->info >= image->n_sections)
        return refuse_section(image, i, "relocates a section that does not exist");
    if (section->link != image->symbols)
        return refuse_section(image, i, "relocates by another table of symbols");
    if (!is_table(image, section, section->type == TYPE_REL ? REL_BYTES : RELA_BYTES))
        return refuse_section(image, i, "is not a whole table of relocations");
    const struct section target = image_section(image, section->info);
    if (section_is_loaded(&target) && target.type == TYPE_ZEROS)
        return refuse_section(image, i, "relocates a section that has no contents");
    return WB_OK;
}

// ---- Sections -----------------------------------------------------------------------------------

static const char *what_is_unknown(const struct section *section)
{
    if (section->type >= TYPE_INIT_ARRAY && section->type <= TYPE_PREINIT_ARRAY)
        return "has constructors, which are never called: initialise in the task";
    if (section->type != TYPE_CONTENTS && section->type != TYPE_ZEROS &&
        section->type != TYPE_NOTE && section->type != TYPE_ARM_EXIDX)
        return "is of an unknown type";
    if ((section->flags & FLAG_TLS) != 0)
        return "is for each thread, which tasks are not: use wb_task_set_state()";
    if ((section->flags & FLAG_COMPRESSED) != 0)
        return "is compressed";
    if ((section->flags & (FLAG_WRITE | FLAG_EXECUTE)) == (FLAG_WRITE | FLAG_EXECUTE))
        return "is both writable and executable";
    return NULL;
}

static const char *what_is_wrong(const struct image *image, const struct section *section)
{
    if (section->size > WB_MODULE_MOST_BYTES)
        return "is too large";
    if ((section->align & (section->align - 1)) != 0 || section->align > WB_MODULE_PAGE_BYTES)
        return "has an alignment that is not a power of two up to 4096";
    if (section->type != TYPE_ZEROS && !image_has(image, section->offset, section->size))
        return "reaches beyond the end of the file: it is cut off";
    return what_is_unknown(section);
}

static bool overlap(const struct section *a, const struct section *b)
{
    return section_is_loaded(a) && section_is_loaded(b) && a->type != TYPE_ZEROS &&
           b->type != TYPE_ZEROS && a->size != 0 && b->size != 0 &&
           a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

static enum wb_status check_section(const struct image *image, uint32_t i)
{
    const struct section section = image_section(image, i);

    if (section_is_relocations(&section))
        return check_relocations(image, i, &section);
    if (!section_is_loaded(&section))
        return WB_OK;
    const char *wrong = what_is_wrong(image, &section);
    if (wrong != NULL)
        return refuse_section(image, i, wrong);
    for (uint32_t j = 0; j < i; j++) {
        const struct section other = image_section(image, j);
        if (overlap(&section, &other))
            return refuse_section(image, i, "overlaps another in the file");
    }
    return WB_OK;
}

// ---- Where they will lie ------------------------------------------------------------------------

static uint32_t round_up(uint32_t bytes, uint32_t align)
{
    return align > 1 ? (bytes + align - 1) / align * align : bytes;
}

// Sections whose flags, of WRITE, and whose being zeros are as wanted, one after the other.
static void place(struct image *image, bool is_written, bool is_zeros)
{
    for (uint32_t i = 0; i < image->n_sections; i++) {
        const struct section section = image_section(image, i);
        if (!section_is_loaded(&section) || ((section.flags & FLAG_WRITE) != 0) != is_written ||
            (section.type == TYPE_ZEROS) != is_zeros)
            continue;
        image->n_bytes = round_up(image->n_bytes, section.align);
        image->at[i] = (int32_t)image->n_bytes;
        image->n_bytes += section.size;
    }
}

// One for each relocation that may need one, so that there are always enough. Once they are too
// many it does not matter how many.
static uint32_t count_veneers(const struct image *image)
{
    const struct wb_machine *machine = image->request->linkage->machine;
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < image->n_sections; i++) {
        const struct section table = image_section(image, i);
        const uint32_t entry_bytes = table.type == TYPE_REL ? REL_BYTES : RELA_BYTES;
        if (!section_is_relocations(&table) || bytes > WB_MODULE_MOST_BYTES)
            continue;
        for (uint32_t at = 0; at < table.size; at += entry_bytes)
            bytes += machine->veneer_bytes(image->bytes[table.offset + at + REL_INFO]);
    }
    return bytes;
}

// Up to 64 sections of 8 MiB, and veneers for a file of 64 MiB, stay within 31 bits.
static enum wb_status lay_out(struct image *image)
{
    for (uint32_t i = 0; i < image->n_sections; i++)
        image->at[i] = NOT_LOADED;
    place(image, false, false);
    place(image, false, true);
    image->n_bytes = round_up(image->n_bytes, 8);
    image->veneers = (struct wb_veneers){ .address = image->request->address + image->n_bytes,
                                          .bytes = count_veneers(image) };
    image->n_bytes = round_up(image->n_bytes + image->veneers.bytes, WB_MODULE_PAGE_BYTES);
    image->fixed_bytes = image->n_bytes;
    place(image, true, false);
    place(image, true, true);
    image->n_bytes = round_up(image->n_bytes, WB_MODULE_PAGE_BYTES);
    if (image->n_bytes > WB_MODULE_MOST_BYTES)
        return image_refuse(image, "it takes %u KiB of memory, and at most %u may be",
                            (unsigned int)(image->n_bytes >> 10),
                            (unsigned int)WB_MODULE_MOST_BYTES >> 10);
    return WB_OK;
}

enum wb_status image_check(struct image *image)
{
    enum wb_status status = check_header(image);

    if (status != WB_OK)
        return status;
    if (!is_texts(image, wb_get16(image->bytes + ELF_NAMES), &image->names)) {
        image->names.size = 0;
        return image_refuse(image, "its sections have no names");
    }
    status = check_symbols(image);
    for (uint32_t i = 0; i < image->n_sections && status == WB_OK; i++)
        status = check_section(image, i);
    return status == WB_OK ? lay_out(image) : status;
}
