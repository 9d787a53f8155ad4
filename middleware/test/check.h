// SPDX-License-Identifier: Apache-2.0
// The whole test framework: TEST registers, CHECK stops at the first lie.
//
// A program of tests prints `ok N name` for each, and `N passed, N failed` at its end.
#ifndef WB_CHECK_H
#define WB_CHECK_H

struct wb_test {
    const char *name;
    void (*run)(void);
    struct wb_test *next;
};

/// Context: before main().
void wb_test_add(struct wb_test *t);

/// Ends the program: says where and what did not hold.
///
/// Context: the process that runs the tests, any thread of it.
_Noreturn void wb_test_fail(const char *file, int line, const char *what);

/// Ends the running test well, without having shown anything here, and says why.
void wb_test_skip(const char *why);

/// The same, and at once: before the test has made anything that it would have to give back.
///
/// Context: the process and the thread that run the tests.
_Noreturn void wb_test_abandon(const char *why);

#define TEST(name)                                                                                 \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        static struct wb_test t = { #name, name, 0 };                                              \
        wb_test_add(&t);                                                                           \
    }                                                                                              \
    static void name(void)

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond))                                                                               \
            wb_test_fail(__FILE__, __LINE__, #cond);                                               \
    } while (0)

#endif
