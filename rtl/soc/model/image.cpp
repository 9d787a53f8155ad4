// SPDX-License-Identifier: Apache-2.0
// Loads a program: the segments of an ELF file, at their physical addresses.
#include "image.h"

#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <vector>

using Bytes = std::vector<char>;

static std::string wrong_header(const Bytes &file, const Elf32_Ehdr &header)
{
    if (file.size() < sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return "it is not an ELF file: build it with riscv64-unknown-elf-gcc";
    if (header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_machine != EM_RISCV)
        return "it is not for a 32-bit RISC-V: compile it with -march=rv32imc -mabi=ilp32";
    if (header.e_phoff + size_t{ header.e_phnum } * sizeof(Elf32_Phdr) > file.size())
        return "it is cut short: build it again";
    return "";
}

static std::string load_segment(const Bytes &file, const Elf32_Phdr &segment, uint32_t *words,
                                uint32_t base, size_t bytes)
{
    if (size_t{ segment.p_offset } + segment.p_filesz > file.size())
        return "it is cut short: build it again";
    const uint64_t at = uint64_t{ segment.p_paddr } - base;
    if (segment.p_paddr < base || at + segment.p_memsz > bytes)
        return "it does not fit the RAM of " + std::to_string(bytes / 1024) +
               " KiB: make its stacks and data smaller";
    std::memcpy(reinterpret_cast<char *>(words) + at, file.data() + segment.p_offset,
                segment.p_filesz);
    return "";
}

std::string load_image(const char *path, uint32_t *words, uint32_t base, size_t bytes)
{
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        return "it cannot be read: is the path right?";
    const Bytes file{ std::istreambuf_iterator<char>(stream), {} };
    Elf32_Ehdr header{};
    std::memcpy(&header, file.data(), std::min(file.size(), sizeof header));
    std::string wrong = wrong_header(file, header);
    for (size_t i = 0; wrong.empty() && i < header.e_phnum; i++) {
        Elf32_Phdr segment;
        std::memcpy(&segment, file.data() + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && segment.p_memsz > 0)
            wrong = load_segment(file, segment, words, base, bytes);
    }
    return wrong;
}
