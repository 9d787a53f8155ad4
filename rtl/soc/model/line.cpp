// SPDX-License-Identifier: Apache-2.0
#include "line.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static constexpr int socket_fd = 3;

Line::Line()
{
    socket_ = fcntl(socket_fd, F_GETFD) != -1;
    from_ = socket_ ? socket_fd : STDIN_FILENO;
    to_ = socket_ ? socket_fd : STDOUT_FILENO;
}

void Line::poll()
{
    flush();
    pollfd wait{ from_, POLLIN, 0 };
    if (ended_ || ::poll(&wait, 1, 0) <= 0)
        return;
    if (taken_ == in_.size()) {
        in_.clear();
        taken_ = 0;
    }
    char bytes[4096];
    const ssize_t got = read(from_, bytes, sizeof bytes);
    if (got > 0)
        in_.append(bytes, static_cast<size_t>(got));
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        ended_ = true;
    closed_ = ended_ && socket_;
}

bool Line::receive(uint8_t &byte)
{
    if (taken_ == in_.size())
        return false;
    byte = static_cast<uint8_t>(in_[taken_++]);
    return true;
}

void Line::flush()
{
    size_t done = 0;
    while (done < out_.size()) {
        const ssize_t put = write(to_, out_.data() + done, out_.size() - done);
        if (put > 0) {
            done += static_cast<size_t>(put);
        } else if (errno == EAGAIN) {
            pollfd wait{ to_, POLLOUT, 0 };
            ::poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            closed_ = socket_;
            break;
        }
    }
    out_.clear();
}
