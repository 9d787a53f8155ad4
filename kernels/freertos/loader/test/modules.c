// SPDX-License-Identifier: Apache-2.0
#include "modules.h"

enum {
    ABS32 = 2,
    REL32 = 3,
    THM_CALL = 10,
    CALL = 28,
    JUMP24 = 29,
    THM_JUMP24 = 30,
    TARGET1 = 38,
    V4BX = 40,
    PREL31 = 42,
    MOVW = 43,
    MOVT = 44,
    THM_MOVW = 47,
    THM_MOVT = 48,
};

static const struct wb_export exports[] = { { "far_function", FAR },
                                            { "near_function", NEAR },
                                            { "thumb_function", NEAR_THUMB },
                                            { "variable", VARIABLE } };

const struct wb_linkage the_kernel = { .machine = &wb_machine_arm,
                                       .exports = exports,
                                       .exports_end = exports + 4 };

// As an assembler leaves them: calls and jumps to where they are themselves.
static void write_code(unsigned char *code)
{
    static const struct {
        uint32_t at, instruction;
    } words[] = {
        { AT_CALL, 0xebfffffe },          // BL
        { AT_CALL_THUMB, 0xebfffffe },    // BL
        { AT_CALL_FAR, 0xebfffffe },      // BL
        { AT_JUMP_THUMB, 0x1afffffe },    // BNE
        { AT_JUMP_FAR, 0xeafffffe },      // B
        { AT_MOVW, 0xe3003004 },          // MOVW R3, #4
        { AT_MOVT, 0xe3403004 },          // MOVT R3, #4: its addend is the whole one, not a half
        { AT_THM_CALL, 0xfffef7ff },      // BL
        { AT_THM_CALL_ARM, 0xfffef7ff },  // BL
        { AT_THM_JUMP_ARM, 0xbffef7ff },  // B.W
        { AT_THM_MOVW, 0x0304f240 },      // MOVW R3, #4
        { AT_THM_MOVT, 0x0304f2c0 },      // MOVT R3, #4
        { AT_BX, 0xe12fff1e },            // BX LR
        { AT_CALL_NOWHERE, 0xebfffffe },  // BL
        { AT_CALL_OWN, 0xebfffffe },      // BL
        { AT_CALL_OWN + 4, 0xe12fff1e },  // BX LR
    };

    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        wb_put32(code + words[i].at, words[i].instruction);
}

static void relocate_code(struct elf *e, const uint32_t symbols[5], uint32_t own)
{
    enum { ARM, THUMB, DISTANT, OBJECT, NOWHERE };
    const struct {
        uint32_t at, type, symbol;
    } all[] = {
        { AT_CALL, CALL, symbols[ARM] },
        { AT_CALL_THUMB, CALL, symbols[THUMB] },
        { AT_CALL_FAR, CALL, symbols[DISTANT] },
        { AT_JUMP_THUMB, JUMP24, symbols[THUMB] },
        { AT_JUMP_FAR, JUMP24, symbols[DISTANT] },
        { AT_MOVW, MOVW, symbols[OBJECT] },
        { AT_MOVT, MOVT, symbols[OBJECT] },
        { AT_THM_CALL, THM_CALL, symbols[THUMB] },
        { AT_THM_CALL_ARM, THM_CALL, symbols[ARM] },
        { AT_THM_JUMP_ARM, THM_JUMP24, symbols[ARM] },
        { AT_THM_MOVW, THM_MOVW, symbols[OBJECT] },
        { AT_THM_MOVT, THM_MOVT, symbols[OBJECT] },
        { AT_BX, V4BX, 0 },
        { AT_CALL_NOWHERE, CALL, symbols[NOWHERE] },
        { AT_CALL_OWN, CALL, own },
    };

    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        elf_relocation(e, 0, all[i].at, all[i].type, all[i].symbol);
    elf_relocation(e, 1, AT_ABS32, ABS32, symbols[THUMB]);
    elf_relocation(e, 1, AT_REL32, REL32, symbols[OBJECT]);
    elf_relocation(e, 1, AT_PREL31, PREL31, symbols[ARM]);
    elf_relocation(e, 1, AT_TARGET1, TARGET1, symbols[DISTANT]);
    elf_relocation(e, 1, AT_WEAK, ABS32, symbols[NOWHERE]);
}

void module_make(struct elf *e)
{
    static unsigned char code[CODE_BYTES], data[DATA_BYTES];
    enum { GLOBAL_FUNCTION = SYMBOL_FUNCTION };

    elf_begin(e);
    write_code(code);
    wb_put32(data + AT_PREL31, 0x80000000);
    wb_put32(data + AT_OWN, 8);
    const uint32_t text = elf_part(e, (struct elf_part){ .name = ".text",
                                                         .type = TYPE_CONTENTS,
                                                         .flags = FLAG_ALLOC | FLAG_EXECUTE,
                                                         .align = 4,
                                                         .size = CODE_BYTES,
                                                         .contents = code });
    const uint32_t words = elf_part(e, (struct elf_part){ .name = ".data",
                                                          .type = TYPE_CONTENTS,
                                                          .flags = FLAG_ALLOC | FLAG_WRITE,
                                                          .align = 8,
                                                          .size = DATA_BYTES,
                                                          .contents = data });
    const uint32_t zeros = elf_part(e, (struct elf_part){ .name = ".bss",
                                                          .type = TYPE_ZEROS,
                                                          .flags = FLAG_ALLOC | FLAG_WRITE,
                                                          .align = 16,
                                                          .size = ZEROS_BYTES });
    const uint32_t own = elf_symbol(e, "task", text, AT_CALL, GLOBAL_FUNCTION, BIND_GLOBAL);
    (void)elf_symbol(e, "thumb_task", text, AT_THM_CALL + 1, GLOBAL_FUNCTION, BIND_GLOBAL);
    const uint32_t symbols[] = { elf_symbol(e, "near_function", 0, 0, 0, BIND_GLOBAL),
                                 elf_symbol(e, "thumb_function", 0, 0, 0, BIND_GLOBAL),
                                 elf_symbol(e, "far_function", 0, 0, 0, BIND_GLOBAL),
                                 elf_symbol(e, "variable", 0, 0, 0, BIND_GLOBAL),
                                 elf_symbol(e, "nobody_has_it", 0, 0, 0, BIND_WEAK) };
    relocate_code(e, symbols, own);
    elf_relocation(e, 1, AT_OWN, ABS32, elf_symbol(e, "zeros", zeros, 0, 1, 0));
    elf_end(e, (const uint32_t[]){ text, words });
}
