// SPDX-License-Identifier: Apache-2.0
// What the cases of modules.c share with the tasks of odd.c.
#ifndef CONFORM_ODD_H
#define CONFORM_ODD_H

#include "wb/word.h"

struct odd {
    struct wb_word incarnation, end;
};

#endif
