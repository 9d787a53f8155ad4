// SPDX-License-Identifier: Apache-2.0
// Claiming extents of pages and giving them back. A kernel that is killed between a claim and the
// first use of the run loses that run; nothing else is left behind.

#include "../base/base.h"
#include "memory.h"

// ---- Laying out ---------------------------------------------------------------------------------

static uint32_t pages_of(size_t bytes)
{
    return (uint32_t)((bytes + WB_POOL_PAGE_BYTES - 1) / WB_POOL_PAGE_BYTES);
}

static uint32_t words_of(uint32_t pages)
{
    return (pages + 31) / 32;
}

size_t wb_pool_bytes(size_t shared_bytes)
{
    const uint32_t pages = pages_of(shared_bytes);

    if (pages == 0)
        return 0;
    return sizeof(struct wb_pool) + words_of(pages) * sizeof(uint32_t) +
           pages * (sizeof(struct wb_extent) + WB_POOL_PAGE_BYTES) + WB_POOL_PAGE_BYTES +
           (size_t)3 * WB_LINE_BYTES;
}

bool wb_pool_init(struct wb_system *system)
{
    const uint32_t pages = pages_of(system->config.shared_bytes);
    const uint32_t n_words = words_of(pages);

    if (pages == 0)
        return true;
    struct wb_pool *pool = wb_system_alloc(system, sizeof *pool, WB_LINE_BYTES);
    struct wb_swapped *words = wb_system_alloc(system, n_words * sizeof *words, WB_LINE_BYTES);
    struct wb_extent *extents = wb_system_alloc(system, pages * sizeof *extents, WB_LINE_BYTES);
    unsigned char *base =
        wb_system_alloc(system, (size_t)pages * WB_POOL_PAGE_BYTES, WB_POOL_PAGE_BYTES);
    if (pool == NULL || words == NULL || extents == NULL || base == NULL)
        return false;
    *pool = (struct wb_pool){ .base = base,
                              .bytes = (size_t)pages * WB_POOL_PAGE_BYTES,
                              .pages = pages,
                              .n_words = n_words,
                              .extents = extents,
                              .words = words };
    // What is not there is never free.
    if (pages % 32 != 0)
        wb_word_init(&words[n_words - 1], UINT32_MAX << pages % 32);
    system->pool = pool;
    system->shared.pool = pool;
    system->shared.epoch = 1;
    return true;
}

// ---- Claiming and giving back -------------------------------------------------------------------

// Acquire: what its last owner did to the run comes before what we do to it.
static bool take_bits(struct wb_swapped *word, uint32_t *seen, uint32_t mask)
{
    return wb_word_compare_swap_weak(word, seen, *seen | mask, WB_ACQUIRE, WB_RELAXED);
}

// Release: the counterpart of take_bits().
static void clear_bits(struct wb_swapped *word, uint32_t mask)
{
    wb_word_and(word, ~mask, WB_RELEASE);
}

static struct wb_extent *claim_in_word(struct wb_pool *pool, uint32_t order, uint32_t index)
{
    struct wb_swapped *word = &pool->words[index];
    uint32_t seen = wb_word_load(word, WB_RELAXED);

    for (;;) {
        const int at = pool_find(seen, order);
        if (at == POOL_NONE)
            return NULL;
        if (take_bits(word, &seen, pool_mask(order, (uint32_t)at)))
            return &pool->extents[index * 32 + (uint32_t)at];
    }
}

static struct wb_extent *claim_words(struct wb_pool *pool, uint32_t n, uint32_t first)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t clear = 0;
        while (clear == 0 && !take_bits(&pool->words[first + i], &clear, UINT32_MAX)) {}
        if (clear == 0)
            continue;
        while (i > 0)
            clear_bits(&pool->words[first + --i], UINT32_MAX);
        return NULL;
    }
    return &pool->extents[first * 32];
}

struct wb_extent *pool_claim(struct wb_pool *pool, uint32_t order, uint32_t *hint)
{
    const uint32_t span = order > POOL_WORD_ORDER ? 1u << (order - POOL_WORD_ORDER) : 1;
    const uint32_t places = pool->n_words / span, from = *hint / span;

    for (uint32_t i = 0; i < places; i++) {
        const uint32_t first = (from + i) % places * span;
        struct wb_extent *extent =
            span == 1 ? claim_in_word(pool, order, first) : claim_words(pool, span, first);
        if (extent == NULL)
            continue;
        *hint = first;
        return extent;
    }
    return NULL;
}

void pool_give_back(struct wb_pool *pool, struct wb_extent *extent)
{
    const uint32_t order = pool_order(extent->size_class);
    const uint32_t at = (uint32_t)(extent - pool->extents);

    // Relaxed: the bits below publish it.
    wb_word_store(&extent->owner, NULL, WB_RELAXED);
    if (order <= POOL_WORD_ORDER) {
        clear_bits(&pool->words[at / 32], pool_mask(order, at % 32));
        return;
    }
    // From the last: who claims the first word then finds the others clear.
    for (uint32_t i = 1u << (order - POOL_WORD_ORDER); i-- > 0;)
        clear_bits(&pool->words[at / 32 + i], UINT32_MAX);
}
