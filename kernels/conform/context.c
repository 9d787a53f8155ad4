// SPDX-License-Identifier: Apache-2.0
// What a processor and the C library keep for a task: it moves along, and nobody else's comes in.

#include <errno.h>
#include <fenv.h>
#include <stdlib.h>

#include "suite.h"

enum { DEEP_BYTES = 48 << 10, LEFT_BYTES = 10 << 10, FRAME_WORDS = 64 };

struct state {
    uint32_t rounds;
    struct wb_word moving;
    uint32_t deepest_bytes;
};

// ---- Beside the moving task, others that want everything to be different ------------------------

static int disturber(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const int error = 100 + (int)wb_task_index(self);

    const bool rounds = fesetround(FE_DOWNWARD) == 0;
    errno = error;
    while (wb_word_load(&s->moving, WB_SEQ_CST) != 0) {
        wb_yield();
        EXPECT(self, !rounds || fegetround() == FE_DOWNWARD);
        EXPECT(self, fetestexcept(FE_DIVBYZERO | FE_INVALID) == 0);
        EXPECT(self, errno == error);
    }
    return 0;
}

static void run_disturbed(wb_task_entry *entry, uint32_t rounds)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    struct state *s = suite_state(h);

    s->rounds = suite_count(rounds);
    wb_word_store(&s->moving, 1, WB_SEQ_CST);
    suite_task(h, &(struct wb_task_config){ .name = "moving", .entry = entry, .migratable = true });
    for (uint32_t i = 0; i < 2; i++)
        suite_task(h, &(struct wb_task_config){
                          .name = "disturber", .index = i, .entry = disturber, .core = i });
    suite_run(h);
    CHECK(wb_word_load(&s->moving, WB_SEQ_CST) == 0);
    harness_close(h);
}

// ---- Floating point -----------------------------------------------------------------------------

static double third(void)
{
    volatile double one = 1, three = 3;
    return one / three;
}

static int rounds_its_own_way(struct wb_task *self)
{
    static const int ways[] = { FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO, FE_DOWNWARD };
    struct state *s = suite_shared(self);
    double expected[4];

    for (uint32_t i = 0; i < s->rounds; i++) {
        fesetround(ways[i % 4]);
        if (i < 4)
            expected[i] = third();
        suite_hop(self);
        EXPECT(self, fegetround() == ways[i % 4]);
        EXPECT(self, third() == expected[i % 4]);
    }
    EXPECT(self, expected[1] > expected[2] && expected[2] == expected[3]);
    wb_word_store(&s->moving, 0, WB_SEQ_CST);
    return 0;
}

// Where there is no floating-point unit.
static bool has_modes(void)
{
    const bool has = fesetround(FE_DOWNWARD) == 0;

    fesetround(FE_TONEAREST);
    if (!has)
        wb_test_skip("this processor has no modes of floating point");
    return has;
}

TEST(the_rounding_mode_moves_with_its_task)
{
    if (has_modes())
        run_disturbed(rounds_its_own_way, 1000);
}

static int raises_flags(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    volatile double zero = 0, infinite;

    for (uint32_t i = 0; i < s->rounds; i++) {
        const int raised = i % 2 != 0 ? FE_DIVBYZERO : FE_INVALID;
        feclearexcept(FE_ALL_EXCEPT);
        infinite = (i % 2 != 0 ? 1 : zero) / zero;
        suite_hop(self);
        EXPECT(self, fetestexcept(FE_DIVBYZERO | FE_INVALID) == raised);
    }
    EXPECT(self, infinite != 1);
    feclearexcept(FE_ALL_EXCEPT);
    wb_word_store(&s->moving, 0, WB_SEQ_CST);
    return 0;
}

TEST(the_floating_point_flags_move_with_their_task)
{
    if (has_modes())
        run_disturbed(raises_flags, 1000);
}

// ---- Registers ----------------------------------------------------------------------------------

// More live values than there are registers that a call preserves, so those are all in use.
static __attribute__((noinline)) double across_a_hop(struct wb_task *self, long a, double x)
{
    const long b = a * 3, c = a ^ b, d = b - a, e = c + d, f = e * 7, g = f ^ a, h = g - c;
    const double y = x * 3, z = x - y, u = y * y, v = u - z, w = v * x, p = w + y, q = p * z;

    suite_hop(self);
    return (double)(a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h) + x + 2 * y +
           3 * z + 5 * u + 7 * v + 11 * w + 13 * p + 17 * q;
}

static __attribute__((noinline)) double without_a_hop(long a, double x)
{
    const long b = a * 3, c = a ^ b, d = b - a, e = c + d, f = e * 7, g = f ^ a, h = g - c;
    const double y = x * 3, z = x - y, u = y * y, v = u - z, w = v * x, p = w + y, q = p * z;

    return (double)(a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h) + x + 2 * y +
           3 * z + 5 * u + 7 * v + 11 * w + 13 * p + 17 * q;
}

static int computes(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    // Small whole numbers: the sums are exact, whatever the order.
    for (uint32_t i = 0; i < s->rounds; i++)
        EXPECT(self, across_a_hop(self, (long)i, i % 9) == without_a_hop((long)i, i % 9));
    wb_word_store(&s->moving, 0, WB_SEQ_CST);
    return 0;
}

TEST(the_registers_move_with_their_task)
{
    run_disturbed(computes, 1000);
}

// ---- errno --------------------------------------------------------------------------------------

static int keeps_errno(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        errno = (int)i;
        suite_hop(self);
        EXPECT(self, errno == (int)i);
    }
    wb_word_store(&s->moving, 0, WB_SEQ_CST);
    return 0;
}

TEST(errno_moves_with_its_task)
{
    run_disturbed(keeps_errno, 1000);
}

// ---- Stacks -------------------------------------------------------------------------------------

static __attribute__((noinline)) uint32_t dive(struct wb_task *self, uint32_t depth)
{
    volatile uint32_t frame[FRAME_WORDS];
    struct state *s = suite_shared(self);
    const size_t left = (size_t)((unsigned char *)__builtin_frame_address(0) - self->stack);
    uint32_t deepest = depth;

    for (uint32_t i = 0; i < FRAME_WORDS; i++)
        frame[i] = depth * FRAME_WORDS + i;
    if (left > LEFT_BYTES)
        deepest = dive(self, depth + 1);
    else
        s->deepest_bytes = (uint32_t)(self->stack_bytes - left);
    // At the bottom, and every now and then on the way back.
    if (left <= LEFT_BYTES || depth % 16 == 0)
        suite_hop(self);
    for (uint32_t i = 0; i < FRAME_WORDS; i++)
        EXPECT(self, frame[i] == depth * FRAME_WORDS + i);
    return deepest;
}

static int diver(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++)
        EXPECT(self, dive(self, 0) > 16);
    wb_word_store(&s->moving, 0, WB_SEQ_CST);
    return 0;
}

TEST(a_deep_stack_moves_with_its_task)
{
    struct harness *h = suite_open(3, sizeof(struct state));
    struct state *s = suite_state(h);

    s->rounds = suite_count(50);
    suite_task(h, &(struct wb_task_config){ .name = "diver", .entry = diver, .migratable = true });
    suite_run(h);
    CHECK(s->deepest_bytes > DEEP_BYTES);
    harness_close(h);
}
