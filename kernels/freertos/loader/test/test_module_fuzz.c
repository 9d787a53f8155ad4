// SPDX-License-Identifier: Apache-2.0
// Modules with random damage: the loader refuses them or loads them, reads nothing outside of the
// file and writes nothing outside of the memory it has. Under AddressSanitizer a byte beyond either
// is a crash; without it a byte before and after is looked at. FUZZ_ROUNDS: how many, FUZZ_SEED:
// which.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "modules.h"

enum { ROOM = 4 * WB_MODULE_PAGE_BYTES, GUARD = 64, ROUNDS = 20000, MOST_CHANGES = 6 };

static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % below;
}

static uint32_t number_of(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

// Values at which bounds are; and bits, bytes and words of no kind.
static void damage(unsigned char *bytes, uint32_t size)
{
    static const uint32_t odd[] = { 0, 1, 3, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 4096 };
    const uint32_t at = draw(size - 4);

    switch (draw(4)) {
    case 0:
        bytes[at] ^= (unsigned char)(1 << draw(8));
        break;
    case 1:
        bytes[at] = (unsigned char)draw(256);
        break;
    case 2:
        wb_put32(bytes + at / 4 * 4, odd[draw(sizeof odd / sizeof *odd)]);
        break;
    default:
        wb_put32(bytes + at / 4 * 4, wb_get32(bytes + at / 4 * 4) + draw(65) - 32);
        break;
    }
}

// Mostly where a change says something: in the headers of the file and its sections.
static void damage_headers(unsigned char *bytes, uint32_t size)
{
    const uint32_t sections_at = wb_get32(bytes + ELF_SECTIONS_AT);

    if (draw(2) == 0 && sections_at < size - ELF_HEADER_BYTES)
        damage(bytes + sections_at, size - sections_at);
    else
        damage(bytes, draw(4) == 0 ? ELF_HEADER_BYTES : size);
}

// Each block in memory of its own, as large as it is.
static bool load_damaged(const unsigned char *bytes, uint32_t size, const char *entry)
{
    static char why[WB_MODULE_WHY_BYTES];
    unsigned char *copy = malloc(size), *room = malloc(ROOM + 2 * GUARD);
    const uint32_t shorter = draw(8) == 0 ? draw(size) + 1 : size;
    unsigned char *file_bytes = malloc(shorter);
    struct wb_module module;

    CHECK(copy != NULL && room != NULL && file_bytes != NULL);
    memcpy(copy, bytes, size);
    for (uint32_t changes = 1 + draw(MOST_CHANGES); changes > 0; changes--)
        damage_headers(copy, size);
    memcpy(file_bytes, copy, shorter);
    memset(room, 0xaa, ROOM + 2 * GUARD);
    const struct wb_module_file file = { "damaged", file_bytes, shorter };
    const struct wb_module_request request = { .linkage = &the_kernel,
                                               .file = &file,
                                               .address = draw(1u << 20) << 12,
                                               .entry = entry,
                                               .why = why };
    why[0] = '\0';
    const enum wb_status status = wb_module_load(&request, room + GUARD, ROOM, &module);
    CHECK(status == WB_OK || status == WB_ERR_INVAL || status == WB_ERR_NOMEM);
    CHECK(status == WB_OK || strncmp(why, "module damaged: ", 16) == 0);
    CHECK(status != WB_OK || (module.bytes <= ROOM && module.fixed_bytes <= module.bytes));
    for (uint32_t i = 0; i < GUARD; i++)
        CHECK(room[i] == 0xaa && room[GUARD + ROOM + i] == 0xaa);
    for (uint32_t i = 0; i < ROOM && status != WB_OK; i++)
        CHECK(room[GUARD + i] == 0xaa);
    free(copy);
    free(room);
    free(file_bytes);
    return status == WB_OK;
}

static void fuzz(const unsigned char *bytes, uint32_t size, const char *entry)
{
    const uint32_t rounds = number_of("FUZZ_ROUNDS", ROUNDS);
    uint32_t loaded = 0;

    random_state = number_of("FUZZ_SEED", 7) | 1;
    printf("# seed %u\n", random_state);
    for (uint32_t i = 0; i < rounds; i++)
        loaded += load_damaged(bytes, size, entry);
    printf("# %u damaged modules, %u of them loaded\n", rounds, loaded);
    // Else nothing of the loader's later steps has been tried.
    CHECK(loaded > rounds / 50 && loaded < rounds / 4 * 3);
}

TEST(a_damaged_module_never_makes_the_loader_leave_its_memory)
{
    static struct elf e;

    module_make(&e);
    fuzz(e.bytes, e.size, "task");
}
