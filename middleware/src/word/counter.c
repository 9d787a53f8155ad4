// SPDX-License-Identifier: Apache-2.0
// Counters of two halves. In a file, not in the header: a board has little memory for code.

#define WB_COUNTER_HALVES  // compiled everywhere, for the tests
#include "wb/word.h"

extern inline void wb_counter_add(struct wb_counter *c, uint64_t n);
extern inline uint64_t wb_counter_get(const struct wb_counter *c);

void wb_counter_set(struct wb_counter *c, uint64_t value)
{
    const uint32_t high = (uint32_t)(value >> 32);

    // Each release orders the store before it: a reader that sees the new low half also sees the
    // new high half, and one that sees the second copy sees the low half.
    // The copies differ when the last writer was killed between them.
    if (high != wb_word_load(&c->high, WB_RELAXED) ||
        high != wb_word_load(&c->high_again, WB_RELAXED)) {
        wb_word_store(&c->high, high, WB_RELAXED);
        wb_word_store(&c->low, (uint32_t)value, WB_RELEASE);
        wb_word_store(&c->high_again, high, WB_RELEASE);
        return;
    }
    wb_word_store(&c->low, (uint32_t)value, WB_RELEASE);
}

// Looks again while the writer carries into the high half, but does not wait
// for it: it may have been killed or preempted there. What has not changed between two looks is
// how it stands, and then a low half in its upper half is the old one. That is exact for a counter
// that goes up by less than 2^31 at a time.
uint64_t wb_counter_settled(const struct wb_counter *c)
{
    uint32_t high, low, again, last_high = 0, last_low = 0, last_again = 0;

    for (;;) {
        again = wb_word_load(&c->high_again, WB_ACQUIRE);
        low = wb_word_load(&c->low, WB_ACQUIRE);
        high = wb_word_load(&c->high, WB_ACQUIRE);
        if (high == again || (high == last_high && low == last_low && again == last_again))
            break;
        last_high = high;
        last_low = low;
        last_again = again;
    }
    return (uint64_t)(low >> 31 != 0 ? again : high) << 32 | low;
}

void wb_counter_carry(struct wb_counter *c, uint64_t n)
{
    wb_counter_set(c, wb_counter_get(c) + n);
}

// `last`: the sequence of the value before.
static inline void stamp(struct wb_stamp *s, uint32_t last, uint64_t value)
{
    const uint32_t next = last + 1;

    // Release: whoever sees one of the halves sees the sequence of the value before, so that its
    // second look at the sequence finds that the place is in use again. And whoever sees the next
    // sequence sees both halves.
    wb_word_fence(WB_RELEASE);
    wb_word_store(&s->at[next & 1].low, (uint32_t)value, WB_RELAXED);
    wb_word_store(&s->at[next & 1].high, (uint32_t)(value >> 32), WB_RELAXED);
    wb_word_store(&s->sequence, next, WB_RELEASE);
}

void wb_stamp_set(struct wb_stamp *s, uint64_t value)
{
    stamp(s, wb_word_load(&s->sequence, WB_RELAXED), value);
}

// Relaxed: the writer reads what it has written.
void wb_stamp_lower(struct wb_stamp *s, uint64_t value)
{
    const uint32_t last = wb_word_load(&s->sequence, WB_RELAXED);
    const uint64_t before = (uint64_t)wb_word_load(&s->at[last & 1].high, WB_RELAXED) << 32 |
                            wb_word_load(&s->at[last & 1].low, WB_RELAXED);

    if (value < before)
        stamp(s, last, value);
}

uint64_t wb_stamp_get(const struct wb_stamp *s)
{
    uint32_t sequence, low, high;

    // Acquire: see above. The last load comes after those of the halves, which acquire.
    do {
        sequence = wb_word_load(&s->sequence, WB_ACQUIRE);
        low = wb_word_load(&s->at[sequence & 1].low, WB_ACQUIRE);
        high = wb_word_load(&s->at[sequence & 1].high, WB_ACQUIRE);
    } while (wb_word_load(&s->sequence, WB_RELAXED) != sequence);
    return (uint64_t)high << 32 | low;
}
