// SPDX-License-Identifier: Apache-2.0
#include "named.h"

#include <stddef.h>

#include "mem.h"

// FNV-1a, then the finalizer of MurmurHash3: without it names that are counted up would lie in the
// order in which they come, and the tree would be a list.
static uint32_t hash_of(const char *name, uint32_t index)
{
    uint32_t hash = 2166136261u ^ index * 2654435769u;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

struct wb_named *wb_named_find(struct wb_named *root, const char *name, uint32_t index)
{
    const uint32_t hash = hash_of(name, index);

    while (root != NULL &&
           (root->hash != hash || root->index != index || !wb_text_equal(root->name, name)))
        root = hash < root->hash ? root->less : root->more;
    return root;
}

void wb_named_add(struct wb_named **root, struct wb_named *named)
{
    named->hash = hash_of(named->name, named->index);
    while (*root != NULL)
        root = named->hash < (*root)->hash ? &(*root)->less : &(*root)->more;
    *root = named;
}
