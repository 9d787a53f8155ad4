// SPDX-License-Identifier: Apache-2.0
// A module while it is checked and loaded; for the loader's own files.
#ifndef WB_IMAGE_H
#define WB_IMAGE_H

#include "elf32.h"
#include "loader.h"
#include "machine.h"

enum { IMAGE_SECTIONS = 64, NOT_LOADED = -1 };

struct section {
    uint32_t name, type, flags, offset, size, link, info, align, entry_bytes;
};

struct symbol {
    const char *name;
    uint32_t value, type, bind, section;
};

struct image {
    const struct wb_module_request *request;
    const unsigned char *bytes;
    uint32_t size;
    uint32_t n_sections, sections_at;
    struct section names;  // of the sections
    uint32_t symbols;      // which section they are
    struct section symbol_names;
    uint32_t n_symbols;
    int32_t at[IMAGE_SECTIONS];  // in the module's memory
    uint32_t fixed_bytes, n_bytes;
    struct wb_veneers veneers;
    unsigned char *to;  // NULL: it is only checked
};

/// Says why a module is refused: `%s` and `%u` of printf(), `%x` with 0x before it.
///
/// Returns: WB_ERR_INVAL.
enum wb_status image_refuse(const struct image *image, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// ---- read.c: what is in the file ----------------------------------------------------------------

/// True if the file has these bytes.
bool image_has(const struct image *image, uint32_t offset, uint32_t bytes);

/// A section by its number, which is below n_sections.
struct section image_section(const struct image *image, uint32_t i);

/// A text of a section of texts that has been checked; "?" where there is none.
const char *image_text(const struct image *image, const struct section *texts, uint32_t offset);

/// The name of a section.
const char *image_section_name(const struct image *image, uint32_t i);

/// A symbol by its number, which is below n_symbols.
struct symbol image_symbol(const struct image *image, uint32_t i);

/// True if it is a table of relocations.
bool section_is_relocations(const struct section *section);

/// True if the section becomes a part of the module's memory.
bool section_is_loaded(const struct section *section);

// ---- check.c, link.c ----------------------------------------------------------------------------

/// Checks the header, the sections and the tables.
enum wb_status image_check(struct image *image);

/// Applies the relocations; to a copy of each while `image->to` is NULL.
enum wb_status image_link(struct image *image);

/// Where function `name` will be.
enum wb_status image_find(const struct image *image, const char *name, uint32_t *entry);

#endif
