// SPDX-License-Identifier: Apache-2.0
// CRC-32 as Ethernet and zlib have it: polynomial 0x04c11db7, reflected, inverted at both ends.
#ifndef APPS_CRC32_H
#define APPS_CRC32_H

#include <stddef.h>
#include <stdint.h>

/// Goes on with a CRC over more bytes; 0 begins a new one.
///
/// Context: any. Never blocks.
/// Returns: the CRC of all bytes so far.
uint32_t crc32_of(uint32_t crc, const void *data, size_t bytes);

#endif
