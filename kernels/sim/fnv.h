// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits (G. Fowler, L. Noll, K.-P. Vo, D. Eastlake: "The FNV Non-Cryptographic Hash
// Algorithm", IETF draft): tells damage and differences, not malice.
#ifndef WB_SIM_FNV_H
#define WB_SIM_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_BEGIN UINT64_C(0xcbf29ce484222325)

/// The hash of what has the hash `hash` (of nothing: FNV_BEGIN) and these bytes behind it.
static inline uint64_t fnv_of(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *byte = bytes;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
