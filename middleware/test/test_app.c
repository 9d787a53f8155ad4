// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/wb.h.
// with: check.c build.c kernel_stub.c
#include "wb/wb.h"

#include <string.h>

#include "check.h"
#include "kernel_stub.h"

static struct wb_app *setup(void)
{
    struct wb_system *system = stub_system(1);
    static const double taps[] = { 1.5, -2, 0.25 };

    CHECK(wb_param_add(system, "input", "cold_day.cu8", NULL, 0) == WB_OK);
    CHECK(wb_param_add(system, "rate", "48000", &(double){ 48000 }, 1) == WB_OK);
    CHECK(wb_param_add(system, "taps", "[1.5, -2, 0.25]", taps, 3) == WB_OK);
    return &system->app;
}

TEST(a_parameter_is_found_as_text)
{
    const struct wb_app *app = setup();

    CHECK(strcmp(wb_param_text(app, "input", "none"), "cold_day.cu8") == 0);
    CHECK(strcmp(wb_param_text(app, "rate", "none"), "48000") == 0);
    CHECK(strcmp(wb_param_text(app, "inpu", "none"), "none") == 0);
    CHECK(wb_param_text(app, "", NULL) == NULL);
}

TEST(a_parameter_is_found_as_a_number)
{
    const struct wb_app *app = setup();

    CHECK(wb_param_number(app, "rate", 1) == 48000);
    CHECK(wb_param_number(app, "input", 1) == 1);
    CHECK(wb_param_number(app, "missing", 1) == 1);
    CHECK(wb_param_number(app, "taps", 1) == 1.5);
}

TEST(elements_past_the_end_of_an_array_fall_back)
{
    const struct wb_app *app = setup();

    CHECK(wb_param_element(app, "taps", 1, 9) == -2);
    CHECK(wb_param_element(app, "taps", 2, 9) == 0.25);
    CHECK(wb_param_element(app, "taps", 3, 9) == 9);
    CHECK(wb_param_element(app, "rate", 0, 9) == 48000);
}

TEST(the_application_keeps_its_own_copy_of_a_parameter)
{
    struct wb_system *system = stub_system(1);
    char key[] = "key", text[] = "text";
    double number = 3;

    CHECK(wb_param_add(system, key, text, &number, 1) == WB_OK);
    key[0] = text[0] = 'x';
    number = 4;
    CHECK(strcmp(wb_param_text(&system->app, "key", ""), "text") == 0);
    CHECK(wb_param_number(&system->app, "key", 0) == 3);
}

TEST(parameters_beyond_the_bounds_are_refused)
{
    struct wb_system *system = setup()->system;

    CHECK(wb_param_add(system, "fourth", "4", NULL, 0) == WB_OK);
    CHECK(wb_param_add(system, "fifth", "5", NULL, 0) == WB_ERR_NOMEM);
    CHECK(wb_param_text(&system->app, "fifth", NULL) == NULL);
}

TEST(application_memory_is_zeroed_aligned_and_ends)
{
    struct wb_app *app = setup();
    unsigned char *memory = wb_app_alloc(app, 100), *next = wb_app_alloc(app, 1);

    CHECK(memory != NULL && (uintptr_t)memory % 64 == 0);
    for (int i = 0; i < 100; i++)
        CHECK(memory[i] == 0);
    CHECK(next >= memory + 100 && (uintptr_t)next % 64 == 0);
    CHECK(wb_app_alloc(app, SIZE_MAX) == NULL);
    CHECK(wb_app_alloc(app, 1 << 30) == NULL);
    CHECK(wb_app_alloc(app, 64) != NULL);
}

TEST(a_task_knows_its_application)
{
    struct wb_app *app = setup();
    struct wb_task *task = stub_task("a", 0);

    CHECK(wb_task_app(task) == app && app->system == stub.system);
    CHECK(wb_task_find(app, "a", 0) == task);
    CHECK(wb_task_find(app, "a", 1) == NULL);
    CHECK(wb_task_find(app, "b", 0) == NULL);
}
