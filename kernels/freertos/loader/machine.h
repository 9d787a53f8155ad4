// SPDX-License-Identifier: Apache-2.0
// What the loader has to know of a processor: one file for each (arm.c), and one table.
#ifndef WB_MACHINE_H
#define WB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Jumps to where a call does not reach, or in the processor's other state. Dry: `memory` is NULL.
struct wb_veneers {
    unsigned char *memory;
    uint32_t address, bytes, used;
};

// One relocation.
struct wb_fixup {
    uint32_t type;
    unsigned char *at;  // a copy of the bytes that change
    uint32_t place;     // their address
    uint32_t target;    // of the symbol
    bool nowhere;       // the symbol is weak, and nobody has it
    bool has_addend;    // else it is in the bytes
    uint32_t addend;
    struct wb_veneers *veneers;
};

struct wb_machine {
    const char *name;
    uint16_t number;  // ELF's

    /// What is wrong with a file's flags; NULL: nothing.
    const char *(*refuses)(uint32_t flags);

    /// How many bytes a relocation of this type changes, 0 for none; -1: it is not known.
    int (*width)(uint32_t type);

    /// How many bytes of a veneer one of this type needs at most.
    uint32_t (*veneer_bytes)(uint32_t type);

    /// Changes them. What is wrong; NULL: nothing.
    const char *(*apply)(const struct wb_fixup *fixup);
};

extern const struct wb_machine wb_machine_arm;

// Little-endian, whatever the alignment.
static inline uint32_t wb_get16(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static inline uint32_t wb_get32(const unsigned char *at)
{
    return wb_get16(at) | wb_get16(at + 2) << 16;
}

static inline void wb_put16(unsigned char *at, uint32_t value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static inline void wb_put32(unsigned char *at, uint32_t value)
{
    wb_put16(at, value);
    wb_put16(at + 2, value >> 16);
}

#endif
