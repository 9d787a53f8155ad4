// SPDX-License-Identifier: Apache-2.0
// What the loader makes of a module, and each reason for which it refuses one.

#define _GNU_SOURCE
#include <string.h>

#include "check.h"
#include "modules.h"

enum { PAGE = WB_MODULE_PAGE_BYTES, ROOM = 2 * PAGE };

static struct elf e;
static unsigned char memory[ROOM];
static char why[WB_MODULE_WHY_BYTES];
static struct wb_module module;

static enum wb_status load_as(const char *entry, uint32_t address, size_t room)
{
    const struct wb_module_file file = { "birds", e.bytes, e.size };
    const struct wb_module_request request = {
        .linkage = &the_kernel, .file = &file, .address = address, .entry = entry, .why = why
    };
    struct wb_module checked;

    memset(memory, 0xaa, sizeof memory);
    memset(why, 0, sizeof why);
    const enum wb_status status = wb_module_check(&request, &checked);
    const enum wb_status loaded = wb_module_load(&request, memory, room, &module);
    CHECK(loaded == status || (status == WB_OK && loaded == WB_ERR_NOMEM));
    return loaded;
}

static enum wb_status load(void)
{
    module_make(&e);
    return load_as("task", MODULE_ADDRESS, ROOM);
}

// Nothing has been written, and the words name what is wrong.
static void expect_refusal(const char *said)
{
    const enum wb_status status = load_as("task", MODULE_ADDRESS, ROOM);

    CHECK(status == WB_ERR_INVAL);
    for (uint32_t i = 0; i < ROOM; i++)
        CHECK(memory[i] == 0xaa);
    CHECK(strncmp(why, "module birds: ", 14) == 0);
    if (strstr(why, said) == NULL)
        wb_test_fail(why, 0, said);
}

static uint32_t code(uint32_t at)
{
    return wb_get32(memory + at);
}

static uint32_t data(uint32_t at)
{
    return wb_get32(memory + PAGE + at);
}

// ---- What it makes ------------------------------------------------------------------------------

TEST(a_module_is_laid_out_in_whole_pages_with_code_first)
{
    CHECK(load() == WB_OK);
    CHECK(module.fixed_bytes == PAGE && module.bytes == 2 * PAGE);
    CHECK(module.entry == MODULE_ADDRESS);
    CHECK(code(AT_BX) == 0xe12fff1e);
    for (uint32_t i = DATA_BYTES; i < PAGE; i++)
        CHECK(memory[PAGE + i] == 0);
    CHECK(load_as("thumb_task", MODULE_ADDRESS, ROOM) == WB_OK);
    CHECK(module.entry == MODULE_ADDRESS + AT_THM_CALL + 1);
}

// Distances are of words from two instructions ahead.
TEST(calls_in_arm_state_reach_both_states)
{
    CHECK(load() == WB_OK);
    CHECK(code(AT_CALL) == (0xeb000000 | ((NEAR - MODULE_ADDRESS - 8) >> 2 & 0xffffff)));
    CHECK(code(AT_CALL_THUMB) ==
          (0xfa000000 | ((NEAR_THUMB - 1 - MODULE_ADDRESS - AT_CALL_THUMB - 8) >> 2 & 0xffffff)));
    CHECK(code(AT_CALL_OWN) == (0xeb000000 | ((0u - AT_CALL_OWN - 8) >> 2 & 0xffffff)));
}

// Where a branch in Arm state leads.
static uint32_t target_of(uint32_t at)
{
    const uint32_t words = (code(at) & 0xffffff) ^ 0x800000;

    return at + 8 + (words - 0x800000) * 4;
}

TEST(what_a_call_does_not_reach_it_reaches_by_one_veneer)
{
    CHECK(load() == WB_OK);
    const uint32_t veneer = target_of(AT_CALL_FAR);
    CHECK(code(AT_CALL_FAR) >> 24 == 0xeb);
    CHECK(veneer >= CODE_BYTES && veneer < PAGE);
    CHECK(code(veneer) == 0xe51ff004 && code(veneer + 4) == FAR);
    CHECK(target_of(AT_JUMP_FAR) == veneer);
}

TEST(a_conditional_jump_to_the_other_state_keeps_its_condition)
{
    CHECK(load() == WB_OK);
    const uint32_t veneer = target_of(AT_JUMP_THUMB);
    CHECK(code(AT_JUMP_THUMB) >> 24 == 0x1a);
    CHECK(code(veneer) == 0xe51ff004 && code(veneer + 4) == NEAR_THUMB);
}

// Of Arm's encodings T1 and T2 of BL and BLX, and T4 of B.
static uint32_t thumb_target(uint32_t at, uint32_t from)
{
    const uint32_t high = code(at) & 0xffff, low = code(at) >> 16, s = high >> 10 & 1;
    const uint32_t i1 = (low >> 13 & 1) == s, i2 = (low >> 11 & 1) == s;
    const uint32_t distance =
        (s != 0 ? 0xff000000 : 0) | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1;

    return MODULE_ADDRESS + from + 4 + distance;
}

TEST(calls_in_thumb_state_reach_both_states)
{
    CHECK(load() == WB_OK);
    CHECK((code(AT_THM_CALL) >> 28 & 0xd) == 0xd);
    CHECK(thumb_target(AT_THM_CALL, AT_THM_CALL) == NEAR_THUMB - 1);
    CHECK((code(AT_THM_CALL_ARM) >> 28 & 0xd) == 0xc);
    CHECK(thumb_target(AT_THM_CALL_ARM, AT_THM_CALL_ARM) == NEAR);
    const uint32_t veneer = thumb_target(AT_THM_JUMP_ARM, AT_THM_JUMP_ARM) - MODULE_ADDRESS;
    CHECK(code(veneer) == 0xf000f8df && code(veneer + 4) == NEAR);
}

TEST(halves_and_words_get_their_addresses)
{
    CHECK(load() == WB_OK);
    const uint32_t value = VARIABLE + 4;
    CHECK(code(AT_MOVW) == (0xe3003000 | (value & 0xf000) << 4 | (value & 0xfff)));
    CHECK(code(AT_MOVT) == (0xe3403000 | (value >> 28) << 16 | (value >> 16 & 0xfff)));
    CHECK(code(AT_THM_MOVW) == 0x0314f240);
    CHECK(code(AT_THM_MOVT) == 0x0300f2c7);
    CHECK(data(AT_ABS32) == NEAR_THUMB);
    CHECK(data(AT_REL32) == VARIABLE - (MODULE_ADDRESS + PAGE + AT_REL32));
    CHECK(data(AT_PREL31) ==
          (0x80000000 | ((NEAR - (MODULE_ADDRESS + PAGE + AT_PREL31)) & 0x7fffffff)));
    CHECK(data(AT_TARGET1) == FAR);
    CHECK(data(AT_OWN) == MODULE_ADDRESS + PAGE + 32 + 8);
}

TEST(what_is_weak_and_nowhere_is_zero_and_calling_it_does_nothing)
{
    CHECK(load() == WB_OK);
    CHECK(data(AT_WEAK) == 0);
    CHECK(code(AT_CALL_NOWHERE) == 0xe320f000);
}

TEST(a_module_may_be_loaded_anywhere)
{
    for (uint32_t address = PAGE; address < 0xf0000000; address += 0x0777 * PAGE) {
        module_make(&e);
        // A 31-bit distance reaches half of all addresses.
        const bool reaches = address - NEAR + 0x40000000 < 0x80000000 - 2 * PAGE;
        CHECK((load_as("task", address, ROOM) == WB_OK) == reaches);
        CHECK(!reaches || data(AT_OWN) == address + PAGE + 32 + 8);
    }
}

// ---- What it refuses ----------------------------------------------------------------------------

static void poke(const char *section, uint32_t field, uint32_t value)
{
    wb_put32(elf_header(&e, elf_find(&e, section)) + field, value);
}

TEST(a_file_that_is_no_module_is_refused)
{
    module_make(&e);
    e.bytes[1] = 'e';
    expect_refusal("it is not an ELF file");
    module_make(&e);
    e.size = 20;
    expect_refusal("it is not an ELF file");
    module_make(&e);
    wb_put16(e.bytes + ELF_TYPE, 2);
    expect_refusal("link it with -r");
    module_make(&e);
    wb_put32(e.bytes + ELF_VERSION, 2);
    expect_refusal("unknown version");
}

TEST(a_module_for_another_machine_is_refused)
{
    module_make(&e);
    wb_put16(e.bytes + ELF_MACHINE, 243);
    expect_refusal("it is for machine 243 of 32 bits, little-endian, not for Arm of 32 bits");
    module_make(&e);
    e.bytes[ELF_CLASS] = 2;
    expect_refusal("of 64 bits");
    module_make(&e);
    e.bytes[ELF_DATA] = 2;
    expect_refusal("big-endian");
    module_make(&e);
    wb_put32(e.bytes + ELF_FLAGS, 0x04000000);
    expect_refusal("EABI");
}

TEST(a_module_that_is_cut_off_is_refused_wherever_that_is)
{
    module_make(&e);
    for (const uint32_t size = e.size; e.size > 0;) {
        e.size--;
        expect_refusal(e.size < ELF_HEADER_BYTES ? "not an ELF file" : "cut off");
        CHECK(e.size < size);
    }
}

TEST(an_unknown_symbol_is_refused_by_its_name)
{
    module_make(&e);
    memcpy(memmem(e.bytes, e.size, "near_function", 13), "nice_function", 13);
    expect_refusal("symbol nice_function is unknown: link it into the module, or have the kernel "
                   "export it by WB_EXPORT(nice_function)");
}

TEST(a_missing_entry_is_refused)
{
    module_make(&e);
    CHECK(load_as("tusk", MODULE_ADDRESS, ROOM) == WB_ERR_INVAL);
    CHECK(strstr(why, "it has no function tusk: it must not be static") != NULL);
    CHECK(load_as("near_function", MODULE_ADDRESS, ROOM) == WB_ERR_INVAL);
    CHECK(load_as("zeros", MODULE_ADDRESS, ROOM) == WB_ERR_INVAL);
}

TEST(a_module_that_is_too_large_is_refused)
{
    module_make(&e);
    CHECK(load_as("task", MODULE_ADDRESS, PAGE) == WB_ERR_NOMEM);
    CHECK(strstr(why, "it takes 8 KiB of memory, and there are 4") != NULL);
    for (uint32_t i = 0; i < ROOM; i++)
        CHECK(memory[i] == 0xaa);
    poke(".bss", SECTION_SIZE, WB_MODULE_MOST_BYTES);
    expect_refusal("it takes 8200 KiB of memory, and at most 8192 may be");
    poke(".bss", SECTION_SIZE, 0xffffffff);
    expect_refusal("section 3 (.bss) is too large");
}

TEST(sections_that_make_no_sense_are_refused)
{
    static const struct {
        const char *section, *said;
        uint32_t field, value;
    } cases[] = {
        { ".text", "section 1 (.text) reaches beyond the end", SECTION_OFFSET, 0xfffffff0 },
        { ".text", "not a power of two", SECTION_ALIGN, 3 },
        { ".text", "not a power of two", SECTION_ALIGN, 8192 },
        { ".text", "unknown type", SECTION_TYPE, 77 },
        { ".text", "is both writable and executable", SECTION_FLAGS, 7 },
        { ".data", "for each thread", SECTION_FLAGS, FLAG_ALLOC | FLAG_WRITE | FLAG_TLS },
        { ".data", "is compressed", SECTION_FLAGS, FLAG_ALLOC | FLAG_WRITE | FLAG_COMPRESSED },
        { ".data", "has constructors", SECTION_TYPE, TYPE_INIT_ARRAY },
        { ".data", "section 2 (.data) overlaps another", SECTION_OFFSET, ELF_HEADER_BYTES + 60 },
        { ".rel.0", "a section that does not exist", SECTION_INFO, 70 },
        { ".rel.0", "relocates a section that has no contents", SECTION_INFO, 3 },
        { ".rel.0", "another table of symbols", SECTION_LINK, 1 },
        { ".rel.0", "not a whole table of relocations", SECTION_SIZE, 7 },
        { ".rel.0", "not a whole table of relocations", SECTION_ENTRY_BYTES, 12 },
        { ".rel.0", "not a whole table of relocations", SECTION_OFFSET, 0x7ffffff0 },
        { ".rel.0", "a second table of symbols", SECTION_TYPE, TYPE_SYMBOLS },
        { ".symtab", "has no table of symbols: do not strip it", SECTION_TYPE, TYPE_CONTENTS },
        { ".symtab", "not a whole table of symbols", SECTION_SIZE, 17 },
        { ".symtab", "no names for its symbols", SECTION_LINK, 1 },
        { ".strtab", "its sections have no names", SECTION_TYPE, TYPE_CONTENTS },
        { ".strtab", "its sections have no names", SECTION_SIZE, 3 },
    };

    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        module_make(&e);
        poke(cases[i].section, cases[i].field, cases[i].value);
        expect_refusal(cases[i].said);
    }
    module_make(&e);
    wb_put16(e.bytes + ELF_SECTIONS, 65);
    expect_refusal("it has 65 sections, not 1 to 64");
}

// The first relocation of the code, or of the data, is another.
static void expect_bad_relocation(const char *table, uint32_t offset, uint32_t info,
                                  const char *said)
{
    module_make(&e);
    unsigned char *at = e.bytes + wb_get32(elf_header(&e, elf_find(&e, table)) + SECTION_OFFSET);
    wb_put32(at, offset);
    wb_put32(at + REL_INFO, info);
    expect_refusal(said);
}

TEST(relocations_that_make_no_sense_are_refused)
{
    enum { SYMBOL = 3 << 8, ABS32 = 2, GOT_BREL = 26, CALL = 28, THM_CALL = 10, MOVW = 43 };
    enum { THM_MOVW = 47, JUMP24 = 29, THM_JUMP24 = 30 };

    expect_bad_relocation(".rel.0", 0, SYMBOL | GOT_BREL,
                          "relocation of type 26 at 0x0 of .text, by symbol near_function is not "
                          "known: compile without -fPIC");
    expect_bad_relocation(".rel.0", CODE_BYTES - 3, SYMBOL | ABS32, "reaches beyond its section");
    expect_bad_relocation(".rel.0", 0xfffffffe, SYMBOL | ABS32, "reaches beyond its section");
    expect_bad_relocation(".rel.0", 0, 99 << 8 | ABS32, "by a symbol that does not exist");
    expect_bad_relocation(".rel.0", AT_MOVW, SYMBOL | CALL, "is for another instruction");
    expect_bad_relocation(".rel.0", AT_CALL, SYMBOL | MOVW, "is for another instruction");
    expect_bad_relocation(".rel.0", AT_CALL, SYMBOL | THM_CALL, "is for another instruction");
    expect_bad_relocation(".rel.0", AT_CALL, SYMBOL | THM_JUMP24, "is for another instruction");
    expect_bad_relocation(".rel.0", AT_CALL, SYMBOL | THM_MOVW, "is for another instruction");
    expect_bad_relocation(".rel.0", AT_MOVW, SYMBOL | JUMP24, "is for another instruction");
}

// Once the first is applied, the bytes are none that the second is for; the check sees both alone.
TEST(two_relocations_of_one_place_are_done_as_they_were_checked)
{
    enum { OWN = 1 << 8, ABS32 = 2 };

    module_make(&e);
    unsigned char *at = e.bytes + wb_get32(elf_header(&e, elf_find(&e, ".rel.0")) + SECTION_OFFSET);
    wb_put32(at, AT_CALL_OWN);
    wb_put32(at + REL_INFO, OWN | ABS32);
    CHECK(load_as("task", MODULE_ADDRESS, ROOM) == WB_OK);
    CHECK(code(AT_CALL_OWN) >> 24 == 0xeb);
}

static void expect_bad_symbol(uint32_t field, uint32_t value, const char *said)
{
    module_make(&e);
    unsigned char *symbol =
        e.bytes + wb_get32(elf_header(&e, elf_find(&e, ".symtab")) + SECTION_OFFSET) + SYMBOL_BYTES;
    if (field == SYMBOL_SECTION)
        wb_put16(symbol + field, value);
    else
        wb_put32(symbol + field, value);
    expect_refusal(said);
}

TEST(symbols_that_lie_nowhere_are_refused)
{
    expect_bad_symbol(SYMBOL_VALUE, CODE_BYTES + 1, "symbol task lies outside of what is loaded");
    expect_bad_symbol(SYMBOL_SECTION, 99, "function task lies outside of its code");
    expect_bad_symbol(SYMBOL_SECTION, 2, "function task lies outside of its code");
    expect_bad_symbol(SYMBOL_SECTION, SECTION_COMMON, "function task lies outside of its code");
    expect_bad_symbol(SYMBOL_NAME, 0xffffffff, "it has no function task");
}

TEST(a_variable_without_a_place_is_refused)
{
    module_make(&e);
    unsigned char *symbol = e.bytes +
                            wb_get32(elf_header(&e, elf_find(&e, ".symtab")) + SECTION_OFFSET) +
                            3 * SYMBOL_BYTES;
    wb_put16(symbol + SYMBOL_SECTION, SECTION_COMMON);
    expect_refusal("variable near_function has no place: compile with -fno-common");
}

TEST(exports_that_are_not_in_order_are_refused)
{
    static const struct wb_export exports[] = { { "b", 1 }, { "a", 2 } };
    const struct wb_linkage kernel = { &wb_machine_arm, exports, exports + 2 };
    const struct wb_module_file file = { "birds", e.bytes, e.size };
    const struct wb_module_request request = { &kernel, &file, MODULE_ADDRESS, "task", why };

    module_make(&e);
    CHECK(wb_module_check(&request, &module) == WB_ERR_INVAL);
    CHECK(strstr(why, "exports are not in order") != NULL);
}

TEST(what_cannot_be_printed_of_a_name_is_not)
{
    module_make(&e);
    memcpy(memmem(e.bytes, e.size, "near_function", 13), "ne\033[2J\n\200ction", 13);
    expect_refusal("symbol ne?[2J??ction is unknown");
}
