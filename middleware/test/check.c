// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wb_test *tests, **last = &tests;
static const char *running, *skipped;
static int passed;
static jmp_buf abandoned;

void wb_test_add(struct wb_test *t)
{
    *last = t;
    last = &t->next;
}

void wb_test_fail(const char *file, int line, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "%s:%d: %s: CHECK(%s)\n", file, line, running, what);
    printf("not ok %d %s\n%d passed, 1 failed\n", passed + 1, running, passed);
    fflush(stdout);
    _Exit(1);
}

void wb_test_skip(const char *why)
{
    skipped = why;
}

void wb_test_abandon(const char *why)
{
    skipped = why;
    longjmp(abandoned, 1);
}

static void run(const struct wb_test *t)
{
    running = t->name;
    skipped = NULL;
    if (setjmp(abandoned) == 0)
        t->run();
    printf("ok %d %s%s%s\n", ++passed, t->name, skipped != NULL ? " # skipped: " : "",
           skipped != NULL ? skipped : "");
    fflush(stdout);
}

static bool is_wanted(const char *name, const char *words)
{
    switch (words[0]) {
    case '=':
        return strcmp(name, words + 1) == 0;
    case '-':
        return strcmp(name, words + 1) != 0;
    default:
        return strstr(name, words) != NULL;
    }
}

// usage: test_x [part of a name | =NAME | -NAME: all others | --list] [KEY=VALUE, for a harness]
int main(int argc, char **argv)
{
    int i = 1;
    while (i < argc && argv[i][0] != '=' && strchr(argv[i], '=') != NULL)
        i++;
    const char *words = i < argc ? argv[i] : "";
    const bool lists = strcmp(words, "--list") == 0;

    for (const struct wb_test *t = tests; t != NULL; t = t->next)
        if (lists)
            puts(t->name);
        else if (is_wanted(t->name, words))
            run(t);
    if (lists)
        return 0;
    printf("%d passed, 0 failed\n", passed);
    return passed == 0;
}
