// SPDX-License-Identifier: Apache-2.0
// What of ELF for 32 bits the loader reads (System V ABI, "Object Files"): offsets into the
// structures, because their bytes are read one by one, whatever their order and alignment here.
#ifndef WB_ELF32_H
#define WB_ELF32_H

enum {
    ELF_HEADER_BYTES = 52,
    ELF_CLASS = 4,
    ELF_DATA = 5,
    ELF_IDENT_VERSION = 6,
    ELF_TYPE = 16,
    ELF_MACHINE = 18,
    ELF_VERSION = 20,
    ELF_SECTIONS_AT = 32,
    ELF_FLAGS = 36,
    ELF_SECTION_BYTES = 46,
    ELF_SECTIONS = 48,
    ELF_NAMES = 50,

    CLASS_32 = 1,
    DATA_LITTLE = 1,
    TYPE_RELOCATABLE = 1,
    MACHINE_ARM = 40,
};

enum {
    SECTION_BYTES = 40,
    SECTION_NAME = 0,
    SECTION_TYPE = 4,
    SECTION_FLAGS = 8,
    SECTION_OFFSET = 16,
    SECTION_SIZE = 20,
    SECTION_LINK = 24,
    SECTION_INFO = 28,
    SECTION_ALIGN = 32,
    SECTION_ENTRY_BYTES = 36,

    TYPE_CONTENTS = 1,  // SHT_PROGBITS
    TYPE_SYMBOLS = 2,
    TYPE_TEXTS = 3,
    TYPE_RELA = 4,
    TYPE_NOTE = 7,
    TYPE_ZEROS = 8,  // SHT_NOBITS
    TYPE_REL = 9,
    TYPE_INIT_ARRAY = 14,
    TYPE_PREINIT_ARRAY = 16,
    TYPE_ARM_EXIDX = 0x70000001,

    FLAG_WRITE = 1,
    FLAG_ALLOC = 2,
    FLAG_EXECUTE = 4,
    FLAG_TLS = 0x400,
    FLAG_COMPRESSED = 0x800,
};

enum {
    SYMBOL_BYTES = 16,
    SYMBOL_NAME = 0,
    SYMBOL_VALUE = 4,
    SYMBOL_INFO = 12,
    SYMBOL_SECTION = 14,

    SYMBOL_FUNCTION = 2,
    BIND_GLOBAL = 1,
    BIND_WEAK = 2,
    SECTION_UNDEFINED = 0,
    SECTION_ABSOLUTE = 0xfff1,
    SECTION_COMMON = 0xfff2,
};

enum { REL_BYTES = 8, RELA_BYTES = 12, REL_INFO = 4, RELA_ADDEND = 8 };

#endif
