// SPDX-License-Identifier: Apache-2.0
// The outer end of the serial line: a socket, or standard input and output.
#ifndef LINE_H
#define LINE_H

#include <cstdint>
#include <string>

class Line
{
  public:
    /// Descriptor 3 if that is open, else standard input and output.
    Line();

    /// Takes what has come, and gives away what was sent. Never blocks on input.
    void poll();
    /// The next byte that has come. False: there is none.
    bool receive(uint8_t &byte);
    void send(uint8_t byte)
    {
        out_.push_back(static_cast<char>(byte));
    }
    void flush();
    /// The other side of descriptor 3 has closed it.
    bool closed() const
    {
        return closed_;
    }

  private:
    int from_, to_;
    bool socket_, ended_ = false, closed_ = false;
    std::string in_, out_;
    size_t taken_ = 0;
};

#endif
