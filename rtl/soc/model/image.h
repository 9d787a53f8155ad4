// SPDX-License-Identifier: Apache-2.0
// Loads a program.
#ifndef IMAGE_H
#define IMAGE_H

#include <cstddef>
#include <cstdint>
#include <string>

/// Copies what an ELF file for RV32 has for the RAM at `base` into `words`.
///
/// Returns: an empty string, or what is wrong with the file in one line.
std::string load_image(const char *path, uint32_t *words, uint32_t base, size_t bytes);

#endif
