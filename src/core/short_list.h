// A list whose first N values need no memory of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace sinew {

/// As std::vector, for values that are copied as bytes. A list of up to N values allocates nothing.
template <typename T, std::size_t N>
class ShortList {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    ShortList() = default;
    ShortList(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
    template <typename Iterator>
    ShortList(Iterator begin, Iterator end) {
        assign(begin, end);
    }
    ShortList(const ShortList& other) { assign(other.begin(), other.end()); }
    ShortList(ShortList&& other) noexcept { *this = std::move(other); }
    ShortList& operator=(const ShortList& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    ShortList& operator=(ShortList&& other) noexcept {
        if (this == &other) return *this;
        more_ = std::move(other.more_);
        room_ = std::exchange(other.room_, N);
        size_ = std::exchange(other.size_, 0);
        if (!more_) std::copy_n(other.own_, size_, own_);
        return *this;
    }

    T* data() { return more_ ? more_.get() : own_; }
    const T* data() const { return more_ ? more_.get() : own_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](std::size_t i) { return data()[i]; }
    const T& operator[](std::size_t i) const { return data()[i]; }
    T& front() { return *data(); }
    T& back() { return data()[size_ - 1]; }

    void clear() { size_ = 0; }
    void push_back(const T& value) {
        const T copy = value;  // it may be in this list
        make_room(size_ + 1);
        data()[size_++] = copy;
    }
    /// Values that are added are T{}.
    void resize(std::size_t size) {
        make_room(size);
        if (size > size_) std::fill(data() + size_, data() + size, T{});
        size_ = size;
    }
    /// Of values that are not in this list.
    template <typename Iterator>
    void assign(Iterator begin, Iterator end) {
        size_ = 0;
        make_room(static_cast<std::size_t>(end - begin));
        size_ = static_cast<std::size_t>(std::copy(begin, end, data()) - data());
    }

private:
    void make_room(std::size_t size) {
        if (size <= room_) return;
        const std::size_t room = std::max(size, 2 * room_);
        std::unique_ptr<T[]> more(new T[room]);
        std::copy_n(data(), size_, more.get());
        more_ = std::move(more);
        room_ = room;
    }

    std::size_t size_ = 0, room_ = N;
    std::unique_ptr<T[]> more_;
    T own_[N];
};

}  // namespace sinew
