// SPDX-License-Identifier: Apache-2.0
// What a program asks of the machine that simulates it: files that it creates and writes.
#ifndef HOST_H
#define HOST_H

#include <cstddef>
#include <cstdint>
#include <vector>

class Host
{
  public:
    /// `ram`: of the SoC, at `base`. Without files every request is refused.
    Host(const uint32_t *ram, uint32_t base, size_t bytes, bool files)
        : ram_(reinterpret_cast<const char *>(ram)), base_(base), bytes_(bytes), files_(files)
    {
    }
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;
    ~Host();

    /// The answer to the request at an address: what soc_regs.h says of struct soc_request.
    int answer(uint32_t address);

  private:
    /// NULL: it is not in the RAM.
    const char *at(uint32_t address, size_t bytes) const;
    int create(uint32_t path);
    int write(uint32_t file, uint32_t from, uint32_t bytes, uint32_t place);
    int close(uint32_t file);
    /// The host's descriptor; -1: it is none.
    int descriptor(uint32_t file) const;

    const char *ram_;
    uint32_t base_;
    size_t bytes_;
    bool files_;
    std::vector<int> open_;  // descriptors, -1: closed
};

#endif
