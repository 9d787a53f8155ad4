// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/status.h.
// with: check.c build.c kernel_stub.c
#include "wb/status.h"

#include <string.h>

#include "check.h"

enum { LAST = WB_ERR_DENIED };

TEST(every_status_has_words_of_its_own)
{
    for (int a = WB_OK; a >= LAST; a--) {
        const char *text = wb_status_text((enum wb_status)a);
        CHECK(strlen(text) > 3);
        CHECK(strcmp(text, "unknown status") != 0);
        for (int b = WB_OK; b > a; b--)
            CHECK(strcmp(text, wb_status_text((enum wb_status)b)) != 0);
    }
}

TEST(a_number_that_is_no_status_has_words_as_well)
{
    CHECK(strcmp(wb_status_text((enum wb_status)(LAST - 1)), "unknown status") == 0);
    CHECK(strcmp(wb_status_text((enum wb_status)1), "unknown status") == 0);
}

TEST(the_numbers_are_what_modules_were_built_with)
{
    CHECK(WB_OK == 0 && WB_ERR_FULL == -1 && WB_ERR_EMPTY == -2 && WB_ERR_TIMEOUT == -3);
    CHECK(WB_ERR_INVAL == -4 && WB_ERR_GONE == -5 && WB_ERR_BUSY == -6 && WB_ERR_HELD == -7);
    CHECK(WB_ERR_PINNED == -8 && WB_ERR_NOMEM == -9 && WB_ERR_OWNER == -10);
    CHECK(WB_ERR_UNABLE == -11);
    CHECK(WB_ERR_DENIED == -12);
}
