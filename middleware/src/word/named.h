// SPDX-License-Identifier: Apache-2.0
// Names: adding and finding them (see wb/named.h).
#ifndef WB_WORD_NAMED_H
#define WB_WORD_NAMED_H

#include <stdbool.h>

#include "wb/named.h"

/// Finds what is called `name` and has this index, in a tree that begins at `root`.
///
/// Context: any. Never blocks.
/// Returns: NULL: there is none.
struct wb_named *wb_named_find(struct wb_named *root, const char *name, uint32_t index);

/// Adds `named`, whose name and index are set. There is none like it.
///
/// Context: the launcher.
/// Memory:  it stays the caller's, with its name, as long as the tree.
void wb_named_add(struct wb_named **root, struct wb_named *named);

#endif
