// SPDX-License-Identifier: Apache-2.0
#include "elf.h"

#include <assert.h>
#include <string.h>

#include "../machine.h"

enum { EABI_5 = 0x05000000 };

static uint32_t add_text(struct elf *e, const char *text)
{
    const uint32_t at = e->texts_used, bytes = (uint32_t)strlen(text) + 1;

    assert(bytes <= sizeof e->texts - at);
    memcpy(e->texts + at, text, bytes);
    e->texts_used += bytes;
    return at;
}

void elf_begin(struct elf *e)
{
    memset(e, 0, sizeof *e);
    (void)add_text(e, "");
    (void)elf_part(e, (struct elf_part){ .name = "" });
    (void)elf_symbol(e, "", 0, 0, 0, 0);
}

uint32_t elf_part(struct elf *e, struct elf_part part)
{
    assert(e->n_sections < ELF_SECTIONS_MOST);
    e->parts[e->n_sections] = part;
    return e->n_sections++;
}

uint32_t elf_symbol(struct elf *e, const char *name, uint32_t section, uint32_t value,
                    uint32_t type, uint32_t bind)
{
    unsigned char *at = e->symbols + e->symbols_used;

    assert(e->symbols_used < sizeof e->symbols);
    wb_put32(at + SYMBOL_NAME, name[0] != '\0' ? add_text(e, name) : 0);
    wb_put32(at + SYMBOL_VALUE, value);
    at[SYMBOL_INFO] = (unsigned char)(bind << 4 | type);
    wb_put16(at + SYMBOL_SECTION, section);
    e->symbols_used += SYMBOL_BYTES;
    return e->symbols_used / SYMBOL_BYTES - 1;
}

void elf_relocation(struct elf *e, uint32_t table, uint32_t offset, uint32_t type, uint32_t symbol)
{
    unsigned char *at = e->relocations[table] + e->relocations_used[table];

    assert(e->relocations_used[table] < sizeof e->relocations[table]);
    wb_put32(at, offset);
    wb_put32(at + REL_INFO, symbol << 8 | type);
    e->relocations_used[table] += REL_BYTES;
}

static void put_header(struct elf *e, uint32_t i, uint32_t offset)
{
    const struct elf_part *part = &e->parts[i];
    unsigned char *at = elf_header(e, i);

    wb_put32(at + SECTION_NAME, part->name[0] != '\0' ? add_text(e, part->name) : 0);
    wb_put32(at + SECTION_TYPE, part->type);
    wb_put32(at + SECTION_FLAGS, part->flags);
    wb_put32(at + SECTION_OFFSET, offset);
    wb_put32(at + SECTION_SIZE, part->size);
    wb_put32(at + SECTION_LINK, part->link);
    wb_put32(at + SECTION_INFO, part->info);
    wb_put32(at + SECTION_ALIGN, part->align);
    wb_put32(at + SECTION_ENTRY_BYTES, part->entry_bytes);
}

static void put_file_header(struct elf *e, uint32_t names)
{
    static const unsigned char ident[] = { 0x7f, 'E', 'L', 'F', CLASS_32, DATA_LITTLE, 1 };

    memcpy(e->bytes, ident, sizeof ident);
    wb_put16(e->bytes + ELF_TYPE, TYPE_RELOCATABLE);
    wb_put16(e->bytes + ELF_MACHINE, MACHINE_ARM);
    wb_put32(e->bytes + ELF_VERSION, 1);
    wb_put32(e->bytes + ELF_SECTIONS_AT, e->headers_at);
    wb_put32(e->bytes + ELF_FLAGS, EABI_5);
    wb_put16(e->bytes + ELF_SECTION_BYTES, SECTION_BYTES);
    wb_put16(e->bytes + ELF_SECTIONS, e->n_sections);
    wb_put16(e->bytes + ELF_NAMES, names);
}

static void add_tables(struct elf *e, const uint32_t relocated[2])
{
    static const char *const names[] = { ".rel.0", ".rel.1" };
    const uint32_t n_tables =
        (e->relocations_used[0] != 0 ? 1u : 0) + (e->relocations_used[1] != 0 ? 1u : 0);
    const uint32_t symbols = e->n_sections + n_tables;

    for (uint32_t i = 0; i < 2; i++)
        if (e->relocations_used[i] != 0)
            (void)elf_part(e, (struct elf_part){ .name = names[i],
                                                 .type = TYPE_REL,
                                                 .link = symbols,
                                                 .info = relocated[i],
                                                 .entry_bytes = REL_BYTES,
                                                 .size = e->relocations_used[i],
                                                 .contents = e->relocations[i] });
    (void)elf_part(e, (struct elf_part){ .name = ".symtab",
                                         .type = TYPE_SYMBOLS,
                                         .link = symbols + 1,
                                         .entry_bytes = SYMBOL_BYTES,
                                         .size = e->symbols_used,
                                         .contents = e->symbols });
    (void)elf_part(
        e, (struct elf_part){ .name = ".strtab", .type = TYPE_TEXTS, .contents = e->texts });
}

// The names of sections come last: their table grows with each header.
void elf_end(struct elf *e, const uint32_t relocated[2])
{
    uint32_t offset = ELF_HEADER_BYTES;

    add_tables(e, relocated);
    e->headers_at = ELF_MOST_BYTES - ELF_SECTIONS_MOST * SECTION_BYTES;
    for (uint32_t i = 0; i < e->n_sections; i++) {
        const struct elf_part *part = &e->parts[i];
        put_header(e, i, offset);
        if (part->contents == NULL || part->contents == e->texts)
            continue;
        memcpy(e->bytes + offset, part->contents, part->size);
        offset += (part->size + 3) / 4 * 4;
    }
    wb_put32(elf_header(e, e->n_sections - 1) + SECTION_SIZE, e->texts_used);
    memcpy(e->bytes + offset, e->texts, e->texts_used);
    offset = (offset + e->texts_used + 3) / 4 * 4;
    assert(offset <= e->headers_at);
    memmove(e->bytes + offset, e->bytes + e->headers_at, e->n_sections * SECTION_BYTES);
    e->headers_at = offset;
    e->size = offset + e->n_sections * SECTION_BYTES;
    put_file_header(e, e->n_sections - 1);
}

unsigned char *elf_header(struct elf *e, uint32_t section)
{
    return e->bytes + e->headers_at + section * SECTION_BYTES;
}

uint32_t elf_find(const struct elf *e, const char *name)
{
    uint32_t i = 0;

    while (strcmp(e->parts[i].name, name) != 0)
        assert(++i < e->n_sections);
    return i;
}
