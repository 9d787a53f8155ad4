// SPDX-License-Identifier: Apache-2.0
// Shared memory: each task has lists of free blocks of its own, and runs of the pool to fill them.
//
// A task allocates and frees what it allocated without an atomic exchange. What others free comes
// home by `returned` (see kingsley.c). A run counts its blocks in use, so that one without any can
// be given back to the pool, for others or for another class. The count is raised before a block is
// taken, and lowered after it is back in its list: a kernel that is killed in between leaves it too
// high, and the run is never given back while a block of it is in use.
//
// After its owner's end nobody allocates from an extent, and whoever frees its last block gives it
// back.

#include "../base/base.h"
#include "../word/mem.h"
#include "memory.h"
#include "wb/system.h"
#include "wb/wb.h"

enum {
    SMALL_CLASS = POOL_PAGE_CLASS + 1,  // the last whose blocks are kept after they were freed
    SPARE_BYTES = 32 << 10,             // how much of that one task keeps without using it
};

static uint32_t used_of(const struct wb_extent *extent)
{
    return wb_word_load(&extent->used, WB_RELAXED);
}

static void set_used(struct wb_extent *extent, uint32_t used)
{
    wb_word_store(&extent->used, used, WB_RELAXED);
    wb_word_order();
}

// ---- Giving back --------------------------------------------------------------------------------

// Takes the blocks of unused runs off a list. Returns the runs, each once, before `others`.
static struct wb_extent *drop_unused(struct wb_shared *s, uint32_t size_class,
                                     struct wb_extent *others)
{
    struct header **link = (struct header **)&s->heap.free[size_class];

    while (*link != NULL) {
        struct header *header = *link;
        struct wb_extent *extent = pool_extent(s->pool, header);
        if (used_of(extent) != 0) {
            link = kingsley_link(header);
            continue;
        }
        *link = *kingsley_link(header);
        wb_word_order();
        if (extent->following == NULL) {
            extent->following = others;
            others = extent;
        }
    }
    return others;
}

// Gives every unused run back that has a block in a list.
static __attribute__((noinline)) void trim(struct wb_shared *s)
{
    struct wb_extent end, *unused = &end;

    for (uint32_t i = 0; i <= SMALL_CLASS; i++)
        unused = drop_unused(s, i, unused);
    s->spare_bytes = 0;
    s->epoch++;
    while (unused != &end) {
        struct wb_extent *extent = unused;
        unused = extent->following;
        extent->following = NULL;
        pool_give_back(s->pool, extent);
    }
}

// ---- Free blocks --------------------------------------------------------------------------------

// What was allocated by an earlier life of the task is left; only the owner is here.
static inline void uncount(struct wb_shared *s, const struct header *header, uint32_t bytes)
{
    s->heap.used_bytes -= bytes;
    if (header->generation != (uint16_t)s->heap.generation) {
        const uint32_t left = wb_word_load(&s->left_bytes, WB_RELAXED);
        wb_word_store(&s->left_bytes, left - bytes, WB_RELAXED);
    }
}

static __attribute__((noinline)) void count_spare(struct wb_shared *s, struct wb_extent *extent)
{
    extent->epoch = s->epoch;
    s->spare_bytes += pool_extent_bytes(extent->size_class);
    if (s->spare_bytes > SPARE_BYTES)
        trim(s);
}

static __attribute__((noinline)) void put_large(struct wb_shared *s, struct wb_extent *extent)
{
    set_used(extent, 0);
    pool_give_back(s->pool, extent);
}

static inline void put_shared(struct wb_shared *s, struct wb_extent *extent, struct header *header)
{
    const uint32_t size_class = extent->size_class;

    uncount(s, header, extent->block_bytes);
    if (size_class > SMALL_CLASS) {
        put_large(s, extent);
        return;
    }
    kingsley_push(&s->heap, size_class, header);
    const uint32_t used = used_of(extent) - 1;
    set_used(extent, used);
    if (used == 0 && extent->epoch != s->epoch)
        count_spare(s, extent);
}

static void take_returned(struct wb_shared *s)
{
    struct header *header = kingsley_take_returned(&s->heap);

    while (header != NULL) {
        struct header *following = *kingsley_link(header);
        put_shared(s, pool_extent(s->pool, header), header);
        header = following;
    }
}

// Cuts an extent into blocks, lowest first, and puts them into their list by one store.
static void cut(struct wb_shared *s, struct wb_extent *extent, uint32_t size_class)
{
    unsigned char *memory = pool_memory(s->pool, extent);
    const size_t bytes = kingsley_bytes(size_class);
    struct header *next = s->heap.free[size_class];

    for (size_t at = pool_extent_bytes(size_class); at > 0; at -= bytes) {
        struct header *header = (struct header *)(void *)(memory + at - bytes);
        wb_word_store(&header->mark, 0, WB_RELAXED);
        *kingsley_link(header) = next;
        next = header;
    }
    wb_word_order();
    s->heap.free[size_class] = next;
}

static bool refill(struct wb_shared *s, uint32_t size_class)
{
    if (s->pool == NULL)
        return false;
    take_returned(s);
    if (s->heap.free[size_class] != NULL)
        return true;
    struct wb_extent *extent = pool_claim(s->pool, pool_order(size_class), &s->hint);
    if (extent == NULL) {
        trim(s);
        s->hint = 0;
        extent = pool_claim(s->pool, pool_order(size_class), &s->hint);
    }
    if (extent == NULL)
        return false;
    extent->size_class = size_class;
    extent->block_bytes = (uint32_t)kingsley_bytes(size_class);
    extent->epoch = 0;
    extent->following = NULL;
    set_used(extent, 0);
    // Release: who sees the owner of an extent, to check a block of it, sees its class.
    wb_word_store(&extent->owner, s, WB_RELEASE);
    cut(s, extent, size_class);
    return true;
}

// Of a class that has a free block.
static inline void *take_shared(struct wb_shared *s, uint32_t size_class)
{
    struct header *header = s->heap.free[size_class];
    struct wb_extent *extent = pool_extent(s->pool, header);

    set_used(extent, used_of(extent) + 1);
    kingsley_pop(&s->heap, size_class, header);
    return kingsley_stamp(&s->heap, header, size_class, extent->block_bytes, KINGSLEY_IN_SHARED);
}

// By itself, so that the usual way keeps nothing over a call.
static __attribute__((noinline)) void *refill_and_take(struct wb_shared *s, uint32_t size_class)
{
    return refill(s, size_class) ? take_shared(s, size_class) : NULL;
}

static inline void *allocate(struct wb_shared *s, size_t bytes)
{
    const uint32_t size_class = kingsley_class(bytes);

    wb_kernel_charge(WB_ACTION_HEAP, 1);
    if (size_class == WB_HEAP_CLASSES)
        return NULL;
    return s->heap.free[size_class] != NULL ? take_shared(s, size_class)
                                            : refill_and_take(s, size_class);
}

// ---- Freeing ------------------------------------------------------------------------------------

static bool is_in_arena(const struct wb_system *system, const struct header *header)
{
    return (uintptr_t)header >= (uintptr_t)system &&
           (uintptr_t)header < (uintptr_t)system->arena_end;
}

static _Noreturn __attribute__((noinline)) void refuse(const struct wb_system *system,
                                                       const struct header *header)
{
    const bool readable =
        (uintptr_t)header % KINGSLEY_HEADER_BYTES == 0 && is_in_arena(system, header);
    const uint32_t mark = readable ? kingsley_mark(header) : 0;

    if (mark == KINGSLEY_FREED)
        kingsley_fault("it freed a shared block twice");
    if (mark == KINGSLEY_IN_HEAP || mark == KINGSLEY_SHIFTED)
        kingsley_fault("it freed a heap block as a shared block: use wb_free()");
    kingsley_fault("it freed a pointer that is not a shared block");
}

// The run of a block in use, and whose it is; ends the run of the system on any other pointer.
static inline struct wb_extent *checked(const struct wb_system *system, const struct header *header,
                                        struct wb_shared **home)
{
    const struct wb_pool *pool = system->pool;

    if (pool == NULL || !pool_contains(pool, header))
        refuse(system, header);
    struct wb_extent *extent = pool_extent(pool, header);
    // Acquire: the rest of what is known of the run.
    *home = wb_word_load(&extent->owner, WB_ACQUIRE);
    // A run is aligned to its length, and its blocks to theirs.
    const uintptr_t offset = (uintptr_t)header - (uintptr_t)pool->base;
    if (*home == NULL || (offset & (extent->block_bytes - 1)) != 0 ||
        kingsley_mark(header) != KINGSLEY_IN_SHARED)
        refuse(system, header);
    return extent;
}

// Until its end the owner stores these words, and nobody else changes them. Returns what is left.
static uint32_t lower(struct wb_compared *word, uint32_t by)
{
    uint32_t was = wb_word_load(word, WB_RELAXED);

    // Acquire and release: every use of a block comes before the run is given back.
    while (!wb_word_compare_swap_weak(word, &was, was - by, WB_ACQ_REL, WB_RELAXED)) {}
    return was - by;
}

static void free_last(struct wb_shared *home, struct wb_extent *extent)
{
    (void)lower(&home->left_bytes, extent->block_bytes);
    if (lower(&extent->used, 1) == 0)
        pool_give_back(home->pool, extent);
}

static __attribute__((noinline)) void send_home(struct wb_shared *home, struct wb_extent *extent,
                                                struct header *header)
{
    if (!kingsley_take_from(header, KINGSLEY_IN_SHARED))
        kingsley_fault("it freed a shared block twice");
    if (!kingsley_return(&home->heap, header))
        free_last(home, extent);
}

static inline void release(const struct wb_system *system, struct wb_shared *mine, void *block)
{
    struct header *header = kingsley_header(block);
    struct wb_shared *home;

    wb_kernel_charge(WB_ACTION_HEAP, 1);
    struct wb_extent *extent = checked(system, header, &home);
    if (home != mine) {
        send_home(home, extent, header);
        return;
    }
    wb_word_store(&header->mark, KINGSLEY_FREED, WB_RELAXED);
    put_shared(mine, extent, header);
}

static void *reallocate(const struct wb_system *system, struct wb_shared *mine, void *block,
                        size_t bytes)
{
    if (block == NULL)
        return allocate(mine, bytes);
    struct wb_shared *home;
    const size_t old =
        checked(system, kingsley_header(block), &home)->block_bytes - KINGSLEY_HEADER_BYTES;
    if (kingsley_fits(old, bytes))
        return block;
    void *fresh = allocate(mine, bytes);
    if (fresh == NULL)
        return bytes <= old ? block : NULL;
    memcpy(fresh, block, old < bytes ? old : bytes);
    release(system, mine, block);
    return fresh;
}

// ---- For tasks and the launcher -----------------------------------------------------------------

void *wb_shared_malloc(size_t bytes)
{
    struct wb_task *self = wb_kernel_self();
    return self != NULL ? allocate(&self->shared, bytes) : NULL;
}

void *wb_shared_realloc(void *block, size_t bytes)
{
    struct wb_task *self = wb_kernel_self();
    return self != NULL ? reallocate(self->system, &self->shared, block, bytes) : NULL;
}

void wb_shared_free(void *block)
{
    struct wb_task *self = wb_kernel_self();

    if (block == NULL)
        return;
    wb_assert(self != NULL);  // a launcher has wb_system_shared_free()
    release(self->system, &self->shared, block);
}

void *wb_system_shared_malloc(struct wb_system *system, size_t bytes)
{
    return allocate(&system->shared, bytes);
}

void *wb_system_shared_realloc(struct wb_system *system, void *block, size_t bytes)
{
    return reallocate(system, &system->shared, block, bytes);
}

void wb_system_shared_free(struct wb_system *system, void *block)
{
    if (block != NULL)
        release(system, &system->shared, block);
}

// ---- The start and the end of an owner ----------------------------------------------------------

static void restart(struct wb_shared *shared, uint32_t generation)
{
    shared->heap.generation = generation;
    wb_word_store(&shared->left_bytes, (uint32_t)shared->heap.used_bytes, WB_RELAXED);
}

static void give_back_unused(struct wb_shared *s)
{
    for (uint32_t i = 0; i < s->pool->pages; i++) {
        struct wb_extent *extent = &s->pool->extents[i];
        if (wb_word_load(&extent->owner, WB_RELAXED) == s && used_of(extent) == 0)
            pool_give_back(s->pool, extent);
    }
}

static void close_shared(struct wb_shared *s)
{
    if (s->pool == NULL || kingsley_is_closed(&s->heap))
        return;
    // Still only the owner lowers `used`, so an extent is given back here or below, but not twice.
    give_back_unused(s);
    wb_word_store(&s->left_bytes, (uint32_t)s->heap.used_bytes, WB_RELAXED);
    struct header *header = kingsley_close(&s->heap);
    while (header != NULL) {
        struct header *following = *kingsley_link(header);
        free_last(s, pool_extent(s->pool, header));
        header = following;
    }
}

size_t wb_shared_left_bytes(const struct wb_shared *shared)
{
    return wb_word_load(&shared->left_bytes, WB_RELAXED);
}

size_t wb_shared_used_bytes(const struct wb_shared *shared)
{
    return kingsley_is_closed(&shared->heap) ? wb_shared_left_bytes(shared)
                                             : shared->heap.used_bytes;
}

const struct wb_part_pool wb_part_pool = {
    .bytes = wb_pool_bytes,
    .init = wb_pool_init,
    .close = close_shared,
    .restart = restart,
};
