// SPDX-License-Identifier: Apache-2.0
// Relocations of the 32-bit Arm architecture (Arm IHI 0044, "ELF for the Arm Architecture"), for
// Armv7-A in both states. An odd target is an instruction in Thumb state.

#include "elf32.h"
#include "machine.h"

enum {
    NONE = 0,
    ABS32 = 2,
    REL32 = 3,
    THM_CALL = 10,
    CALL = 28,
    JUMP24 = 29,
    THM_JUMP24 = 30,
    TARGET1 = 38,  // as ABS32
    V4BX = 40,     // marks a BX, for processors that have none
    PREL31 = 42,
    MOVW_ABS_NC = 43,
    MOVT_ABS = 44,
    THM_MOVW_ABS_NC = 47,
    THM_MOVT_ABS = 48,
};

enum { VENEER_BYTES = 8, ARM_AHEAD = 8, THUMB_AHEAD = 4 };

static const char other_instruction[] = "is for another instruction than the one there";
static const char out_of_range[] = "does not reach its target";

static int32_t extend(uint32_t value, unsigned int bits)
{
    const uint32_t sign = UINT32_C(1) << (bits - 1);

    return (int32_t)((value ^ sign) - sign);
}

// As a number of so many bits, with a sign.
static bool fits(uint32_t value, unsigned int bits)
{
    return (uint32_t)extend(value & ((UINT32_C(1) << bits) - 1), bits) == value;
}

static uint32_t sum(const struct wb_fixup *f, int32_t in_place)
{
    return f->target + (f->has_addend ? f->addend : (uint32_t)in_place);
}

// ---- Veneers ------------------------------------------------------------------------------------

// LDR PC, [PC, #-4] or, in Thumb state, LDR.W PC, [PC, #0]; the target is the word after it.
static uint32_t veneer(struct wb_veneers *v, uint32_t target, bool is_thumb)
{
    const uint32_t load = is_thumb ? 0xf000f8df : 0xe51ff004;
    uint32_t at = 0;

    // Nothing can be written yet; each is in reach of all of the module.
    if (v->memory == NULL)
        return v->address;
    while (at < v->used &&
           (wb_get32(v->memory + at) != load || wb_get32(v->memory + at + 4) != target))
        at += VENEER_BYTES;
    if (at == v->used) {
        wb_put32(v->memory + at, load);
        wb_put32(v->memory + at + 4, target);
        v->used += VENEER_BYTES;
    }
    return v->address + at;
}

// ---- Calls and jumps ----------------------------------------------------------------------------

// BL of a function in Thumb state becomes BLX, if it is unconditional.
static const char *branch(const struct wb_fixup *f)
{
    const uint32_t old = wb_get32(f->at);
    const bool is_blx = old >> 28 == 0xf;
    const bool may_exchange = f->type == CALL;

    if ((old & 0x0e000000) != 0x0a000000 || (is_blx && !may_exchange) || (f->place & 3) != 0)
        return other_instruction;
    if (f->nowhere) {
        wb_put32(f->at, 0xe320f000);  // NOP
        return NULL;
    }
    const int32_t in_place =
        extend((old & 0xffffff) << 2, 26) + (is_blx ? (int32_t)(old >> 23 & 2) : 0);
    uint32_t target = sum(f, in_place) + ARM_AHEAD;
    const uint32_t from = f->place + ARM_AHEAD;
    if (((target & 1) != 0 && !may_exchange) || !fits((target & ~UINT32_C(1)) - from, 26))
        target = veneer(f->veneers, target, false);
    const uint32_t distance = (target & ~UINT32_C(1)) - from;
    if (!fits(distance, 26) || ((target & 1) == 0 && (distance & 3) != 0))
        return out_of_range;
    const uint32_t call = (target & 1) != 0 ? 0xfa000000 | (distance & 2) << 23
                          : is_blx          ? 0xeb000000
                                            : old & 0xff000000;
    wb_put32(f->at, call | (distance >> 2 & 0xffffff));
    return NULL;
}

static int32_t thumb_distance(uint32_t high, uint32_t low)
{
    const uint32_t s = high >> 10 & 1, i1 = ~(low >> 13 ^ s) & 1, i2 = ~(low >> 11 ^ s) & 1;

    return extend(s << 24 | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1, 25);
}

static uint32_t thumb_way(uint32_t place, uint32_t target)
{
    const uint32_t from = place + THUMB_AHEAD;

    return (target & 1) != 0 ? (target & ~UINT32_C(1)) - from : target - (from & ~UINT32_C(3));
}

static void put_thumb_branch(unsigned char *at, uint32_t kind, uint32_t distance)
{
    const uint32_t s = distance >> 24 & 1, j1 = (~(distance >> 23) ^ s) & 1,
                   j2 = (~(distance >> 22) ^ s) & 1;

    wb_put16(at, 0xf000 | s << 10 | (distance >> 12 & 0x3ff));
    wb_put16(at + 2, kind | j1 << 13 | j2 << 11 | (distance >> 1 & 0x7ff));
}

// BL of a function in Arm state becomes BLX, whose distance is from a multiple of four.
static const char *thumb_branch(const struct wb_fixup *f)
{
    enum { B = 0x9000, BL = 0xd000, BLX = 0xc000 };
    const uint32_t high = wb_get16(f->at), low = wb_get16(f->at + 2);
    const bool may_exchange = f->type == THM_CALL;

    if ((high & 0xf800) != 0xf000 || (low & 0xc000) != (may_exchange ? 0xc000 : 0x8000) ||
        (!may_exchange && (low & 0x1000) == 0) || (f->place & 1) != 0)
        return other_instruction;
    if (f->nowhere) {
        wb_put16(f->at, 0xf3af);  // NOP.W
        wb_put16(f->at + 2, 0x8000);
        return NULL;
    }
    uint32_t target = sum(f, thumb_distance(high, low)) + THUMB_AHEAD;
    if (((target & 1) == 0 && !may_exchange) || !fits(thumb_way(f->place, target), 25))
        target = veneer(f->veneers, target, true) | 1;
    const bool to_thumb = (target & 1) != 0;
    const uint32_t distance = thumb_way(f->place, target);
    if (!fits(distance, 25) || (!to_thumb && (distance & 3) != 0))
        return out_of_range;
    put_thumb_branch(f->at, !may_exchange ? B : to_thumb ? BL : BLX, distance);
    return NULL;
}

// ---- Halves of an address -----------------------------------------------------------------------

static const char *half(const struct wb_fixup *f)
{
    const uint32_t old = wb_get32(f->at), is_top = f->type == MOVT_ABS;

    if ((old & 0x0ff00000) != (is_top ? 0x03400000 : 0x03000000))
        return other_instruction;
    const uint32_t value =
        sum(f, extend((old >> 4 & 0xf000) | (old & 0xfff), 16)) >> (is_top ? 16 : 0);
    wb_put32(f->at, (old & 0xfff0f000) | (value & 0xf000) << 4 | (value & 0xfff));
    return NULL;
}

static const char *thumb_half(const struct wb_fixup *f)
{
    const uint32_t high = wb_get16(f->at), low = wb_get16(f->at + 2),
                   is_top = f->type == THM_MOVT_ABS;

    if ((high & 0xfbf0) != (is_top ? 0xf2c0 : 0xf240) || (low & 0x8000) != 0)
        return other_instruction;
    const uint32_t in_place =
        (high & 15) << 12 | (high >> 10 & 1) << 11 | (low >> 12 & 7) << 8 | (low & 0xff);
    const uint32_t value = sum(f, extend(in_place, 16)) >> (is_top ? 16 : 0);
    wb_put16(f->at, (high & 0xfbf0) | (value >> 11 & 1) << 10 | (value >> 12 & 15));
    wb_put16(f->at + 2, (low & 0x8f00) | (value >> 8 & 7) << 12 | (value & 0xff));
    return NULL;
}

// ---- Words --------------------------------------------------------------------------------------

static const char *word(const struct wb_fixup *f)
{
    const uint32_t value = sum(f, (int32_t)wb_get32(f->at));

    wb_put32(f->at, f->type == REL32 ? value - f->place : value);
    return NULL;
}

static const char *word31(const struct wb_fixup *f)
{
    const uint32_t old = wb_get32(f->at);
    const uint32_t value = sum(f, extend(old & 0x7fffffff, 31)) - f->place;

    if (!fits(value, 31))
        return out_of_range;
    wb_put32(f->at, (old & 0x80000000) | (value & 0x7fffffff));
    return NULL;
}

// ---- The table ----------------------------------------------------------------------------------

static const char *refuses(uint32_t flags)
{
    enum { BE8 = 0x00800000 };

    if (flags >> 24 != 5 || (flags & BE8) != 0)
        return "it is for another version of Arm's interface between files than 5 (EABI)";
    return NULL;
}

static int width(uint32_t type)
{
    switch (type) {
    case NONE:
    case V4BX:
        return 0;
    case ABS32:
    case REL32:
    case THM_CALL:
    case CALL:
    case JUMP24:
    case THM_JUMP24:
    case TARGET1:
    case PREL31:
    case MOVW_ABS_NC:
    case MOVT_ABS:
    case THM_MOVW_ABS_NC:
    case THM_MOVT_ABS:
        return 4;
    default:
        return -1;
    }
}

static uint32_t veneer_bytes(uint32_t type)
{
    return type == CALL || type == JUMP24 || type == THM_CALL || type == THM_JUMP24 ? VENEER_BYTES
                                                                                    : 0;
}

static const char *apply(const struct wb_fixup *fixup)
{
    switch (fixup->type) {
    case CALL:
    case JUMP24:
        return branch(fixup);
    case THM_CALL:
    case THM_JUMP24:
        return thumb_branch(fixup);
    case MOVW_ABS_NC:
    case MOVT_ABS:
        return half(fixup);
    case THM_MOVW_ABS_NC:
    case THM_MOVT_ABS:
        return thumb_half(fixup);
    case PREL31:
        return word31(fixup);
    default:
        return word(fixup);
    }
}

const struct wb_machine wb_machine_arm = {
    .name = "Arm of 32 bits",
    .number = MACHINE_ARM,
    .refuses = refuses,
    .width = width,
    .veneer_bytes = veneer_bytes,
    .apply = apply,
};
