// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "../soc_regs.h"

static constexpr size_t files_max = 64;

/// Of the small numbers, which C libraries have in common.
static int failed()
{
    return errno <= ERANGE ? -errno : -EIO;
}

Host::~Host()
{
    for (const int fd : open_)
        if (fd >= 0)
            ::close(fd);
}

const char *Host::at(uint32_t address, size_t bytes) const
{
    const uint64_t place = uint64_t{ address } - base_;
    return address >= base_ && place + bytes <= bytes_ ? ram_ + place : nullptr;
}

int Host::descriptor(uint32_t file) const
{
    return file < open_.size() ? open_[file] : -1;
}

int Host::create(uint32_t path)
{
    const char *text = at(path, 1);
    if (text == nullptr || std::memchr(text, 0, bytes_ - (path - base_)) == nullptr)
        return -EFAULT;
    size_t file = 0;
    while (file < open_.size() && open_[file] >= 0)
        file++;
    if (file == files_max)
        return -EMFILE;
    const int fd = ::open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return failed();
    if (file == open_.size())
        open_.push_back(-1);
    open_[file] = fd;
    return static_cast<int>(file);
}

int Host::write(uint32_t file, uint32_t from, uint32_t bytes, uint32_t place)
{
    const char *data = at(from, bytes);
    if (descriptor(file) < 0)
        return -EBADF;
    if (data == nullptr)
        return -EFAULT;
    const ssize_t put = ::pwrite(descriptor(file), data, bytes, place);
    return put >= 0 ? static_cast<int>(put) : failed();
}

int Host::close(uint32_t file)
{
    const int fd = descriptor(file);
    if (fd < 0)
        return -EBADF;
    open_[file] = -1;
    return ::close(fd) == 0 ? 0 : failed();
}

int Host::answer(uint32_t address)
{
    soc_request request;
    const char *from = at(address, sizeof request);
    if (!files_)
        return -EROFS;
    if (from == nullptr)
        return -EFAULT;
    std::memcpy(&request, from, sizeof request);
    const unsigned *words = request.words;
    switch (request.what) {
    case SOC_HOST_CREATE:
        return create(words[0]);
    case SOC_HOST_WRITE:
        return write(words[0], words[1], words[2], words[3]);
    case SOC_HOST_CLOSE:
        return close(words[0]);
    default:
        return -EINVAL;
    }
}
