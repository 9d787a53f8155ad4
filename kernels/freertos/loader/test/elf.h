// SPDX-License-Identifier: Apache-2.0
// Makes relocatable ELF files for Arm in memory, right ones and wrong ones.
#ifndef WB_TEST_ELF_H
#define WB_TEST_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "../elf32.h"

enum { ELF_SECTIONS_MOST = 16, ELF_MOST_BYTES = 4096 };

// How each section is told: the values of its header, and its contents.
struct elf_part {
    const char *name;
    uint32_t type, flags, link, info, align, entry_bytes, size;
    const void *contents;  // NULL: it has none
};

struct elf {
    unsigned char bytes[ELF_MOST_BYTES];
    uint32_t size, n_sections, headers_at;
    struct elf_part parts[ELF_SECTIONS_MOST];
    unsigned char symbols[512], texts[512], relocations[2][256];
    uint32_t symbols_used, texts_used, relocations_used[2];
};

/// A file without anything but a first symbol.
void elf_begin(struct elf *e);

/// Returns: the number of the section.
uint32_t elf_part(struct elf *e, struct elf_part part);

/// Returns: the number of the symbol.
uint32_t elf_symbol(struct elf *e, const char *name, uint32_t section, uint32_t value,
                    uint32_t type, uint32_t bind);

/// Adds to table 0 or 1 of relocations.
void elf_relocation(struct elf *e, uint32_t table, uint32_t offset, uint32_t type, uint32_t symbol);

/// Adds a table of relocations for a section, if it has any, then symbols and names, and lays all
/// of it out.
void elf_end(struct elf *e, const uint32_t relocated[2]);

/// Where the header of a section is in the file, to make it wrong.
unsigned char *elf_header(struct elf *e, uint32_t section);

/// The number of a section by its name.
uint32_t elf_find(const struct elf *e, const char *name);

#endif
