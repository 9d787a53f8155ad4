// SPDX-License-Identifier: Apache-2.0
// wb.h for C++20: ports typed by what they carry, slots and locks that end with their scope.
//
//     extern "C" int filter(wb_task *self)
//     {
//         wb::in<float[]> in(self, "in");    // blocks of as many floats as app.toml says
//         wb::out<float[]> out(self, "out");
//
//         while (auto samples = in.hold()) {  // released at the end of its scope
//             if (auto filtered = out.claim())  // committed at the end of its scope
//                 std::ranges::transform(*samples, filtered->begin(), smooth);
//             else
//                 return 1;
//             wb_checkpoint();
//         }
//         return 0;
//     }
//
// Everything else is called as in C: wb_checkpoint(), wb_period_wait(), wb_param_number().
//
// A task may move while it has slots and mutexes. It does not move while it handles an exception
// (WB_ERR_HELD), so no checkpoint belongs into a `catch`, nor into a destructor that an exception
// runs. A task that keeps images commits its slots before a checkpoint. Nothing here throws.
#ifndef WB_WB_HPP
#define WB_WB_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

// A struct and a function are both called wb_wait, as C allows.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "wb/wb.h"
#pragma GCC diagnostic pop

namespace wb
{

inline constexpr std::uint64_t forever = WB_FOREVER;

// What a port may carry: a T that is copied as bytes, or T[], as many of them as a slot has room
// for. Slots are aligned to 64 bytes. An array of fixed size is a std::array.
template <class T, class One = std::remove_extent_t<T>>
concept carried = std::is_trivially_copyable_v<One> && !std::is_const_v<One> &&
                  !std::is_bounded_array_v<T> && alignof(One) <= 64;

// ---- Slots --------------------------------------------------------------------------------------

// A message in place, until the end of its scope, also if an exception leaves that. Slots of one
// port end in the order in which they were begun, whichever of them goes first.
template <class T, wb_status (*End)(wb_port *)> class slot
{
    using one = std::remove_extent_t<T>;

  public:
    slot(wb_port *port, std::span<one> message, wb_status status) noexcept
        : port_(status == WB_OK ? port : nullptr), message_(message), status_(status)
    {
    }
    slot(slot &&other) noexcept
        : port_(std::exchange(other.port_, nullptr)), message_(other.message_),
          status_(other.status_)
    {
    }
    slot &operator=(slot &&) = delete;
    ~slot()
    {
        end();
    }

    /// True while there is a message to read, or to write.
    explicit operator bool() const noexcept
    {
        return port_ != nullptr;
    }

    /// As wb_port_hold() or wb_port_claim() returned it.
    wb_status status() const noexcept
    {
        return status_;
    }

    /// The message; of T[] a std::span.
    decltype(auto) operator*() const noexcept
    {
        if constexpr (std::is_array_v<T>)
            return (message_);
        else
            return message_.front();
    }
    auto operator->() const noexcept
    {
        return &**this;
    }

    /// Commits or releases it before the end of its scope.
    void end() noexcept
    {
        if (port_ != nullptr)
            End(std::exchange(port_, nullptr));
    }

  private:
    wb_port *port_;  // NULL: it has ended, or was never there
    std::span<one> message_;
    wb_status status_;
};

template <class T> using held = slot<const T, wb_port_release>;
template <class T> using claimed = slot<T, wb_port_commit>;

// ---- Ports --------------------------------------------------------------------------------------

// What inputs and outputs have in common. As wb_port_find(): a port that app.toml does not have, or
// slots of another size, end the run with an error that says so.
template <carried T> class port
{
  public:
    port(wb_task *self, const char *name, std::uint32_t index = 0) noexcept
        : port_(std::is_array_v<T> ? wb_port_find_room(self, name, index, one_bytes)
                                   : wb_port_find(self, name, index, one_bytes))
    {
    }

    /// The port for functions of wb.h: wb_wait(), wb_port_messages(), wb_port_close().
    wb_port *get() const noexcept
    {
        return port_;
    }

    /// How many T a message has; 1 unless it is T[].
    std::size_t size() const noexcept
    {
        return std::is_array_v<T> ? wb_port_slot_bytes(port_) / one_bytes : 1;
    }

  private:
    static constexpr std::size_t one_bytes = sizeof(std::remove_extent_t<T>);
    wb_port *port_;
};

template <class T> class in : public port<T>
{
  public:
    using port<T>::port;

    /// As wb_port_receive().
    [[nodiscard]] wb_status receive(T &message, std::uint64_t timeout_ns = forever) const noexcept
        requires(!std::is_array_v<T>)
    {
        return wb_port_receive(this->get(), &message, timeout_ns);
    }

    /// As wb_port_hold(): the next message, in place.
    [[nodiscard]] held<T> hold(std::uint64_t timeout_ns = forever) const noexcept
    {
        const void *at = nullptr;
        const wb_status status = wb_port_hold(this->get(), &at, timeout_ns);
        using one = const std::remove_extent_t<T>;
        return { this->get(), { static_cast<one *>(at), at ? this->size() : 0 }, status };
    }
};

template <class T> class out : public port<T>
{
  public:
    using port<T>::port;

    /// As wb_port_send().
    [[nodiscard]] wb_status send(const T &message,
                                 std::uint64_t timeout_ns = forever) const noexcept
        requires(!std::is_array_v<T>)
    {
        return wb_port_send(this->get(), &message, timeout_ns);
    }

    /// As wb_port_claim(): room for the next message, whose old content is undefined.
    [[nodiscard]] claimed<T> claim(std::uint64_t timeout_ns = forever) const noexcept
    {
        void *at = nullptr;
        const wb_status status = wb_port_claim(this->get(), &at, timeout_ns);
        using one = std::remove_extent_t<T>;
        return { this->get(), { static_cast<one *>(at), at ? this->size() : 0 }, status };
    }
};

// ---- Locks --------------------------------------------------------------------------------------

// Held until the end of its scope, if it could be taken in time.
template <class What, wb_status (*Take)(What *, std::uint64_t), wb_status (*Give)(What *)>
class lock
{
  public:
    explicit lock(What *what, std::uint64_t timeout_ns = forever) noexcept
        : what_(what), status_(Take(what, timeout_ns))
    {
    }
    lock(const lock &) = delete;
    lock &operator=(const lock &) = delete;
    ~lock()
    {
        if (*this)
            Give(what_);
    }

    /// True while it is held, also after WB_ERR_OWNER: then what it guards may be half changed.
    explicit operator bool() const noexcept
    {
        return status_ == WB_OK || status_ == WB_ERR_OWNER;
    }

    /// As wb_mutex_lock() or wb_lock() returned it.
    wb_status status() const noexcept
    {
        return status_;
    }

  private:
    What *what_;
    wb_status status_;
};

using mutex_lock = lock<wb_mutex, wb_mutex_lock, wb_mutex_unlock>;
using address_lock = lock<const void, wb_lock, wb_unlock>;  // its task is not moved meanwhile

}  // namespace wb

#endif
