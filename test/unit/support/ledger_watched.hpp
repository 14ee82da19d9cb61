// A slot and a clock whose every access goes through a watcher, for the claim's templates.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/error.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::test {

enum Cell : unsigned { key_cell, word_cell, safe_cell, ceiling_cell, begun_cell, cell_count };

struct Watcher {
    virtual std::uint64_t load(Cell cell) = 0;
    virtual bool swap(Cell cell, std::uint64_t& expected, std::uint64_t desired) = 0;
    virtual void store(Cell cell, std::uint64_t value) = 0;
    virtual Result<std::uint64_t> tick() = 0;
    virtual MonotonicTime monotonic() = 0;
    virtual microseconds until(std::uint64_t tick) = 0;
    virtual microseconds tick_length() = 0;

protected:
    ~Watcher() = default;
};

// The part of std::atomic that the ledger uses, sequentially consistent. A weak swap fails only for a reason. An
// unwatched word stays 0.
template <class T = std::uint64_t>
class WatchedWord {
public:
    T load(std::memory_order = std::memory_order_seq_cst) const {
        return std::bit_cast<T>(watcher_ != nullptr ? watcher_->load(cell_) : std::uint64_t{0});
    }
    bool compare_exchange_strong(T& expected, T desired) {
        if (watcher_ == nullptr) return true;
        auto seen = std::bit_cast<std::uint64_t>(expected);
        const bool done = watcher_->swap(cell_, seen, std::bit_cast<std::uint64_t>(desired));
        expected = std::bit_cast<T>(seen);
        return done;
    }
    bool compare_exchange_weak(T& expected, T desired) { return compare_exchange_strong(expected, desired); }
    void store(T value, std::memory_order = std::memory_order_seq_cst) {
        if (watcher_ != nullptr) watcher_->store(cell_, std::bit_cast<std::uint64_t>(value));
    }
    std::uint64_t fetch_add(std::uint64_t n) {
        std::uint64_t seen = load();
        while (!compare_exchange_strong(seen, seen + n)) {}
        return seen;
    }

    void watch(Watcher& watcher, Cell cell) {
        watcher_ = &watcher;
        cell_ = cell;
    }

private:
    Watcher* watcher_ = nullptr;
    Cell cell_ = key_cell;
};

struct WatchedSlot : ledger::BasicSlot<WatchedWord> {
    // `first`: the cell of its key.
    explicit WatchedSlot(Watcher& watcher, unsigned first = key_cell) {
        const auto watch = [&](auto& w, Cell cell) { w.watch(watcher, static_cast<Cell>(first + cell)); };
        watch(key, key_cell);
        watch(word, word_cell);
        watch(safe, safe_cell);
        watch(ceiling, ceiling_cell);
        watch(begun, begun_cell);
    }
};

struct WatchedClock {
    Watcher* watcher;

    Result<std::uint64_t> tick() const { return watcher->tick(); }
    MonotonicTime monotonic() const { return watcher->monotonic(); }
    microseconds until(std::uint64_t tick) const { return watcher->until(tick); }
    microseconds tick_length() const { return watcher->tick_length(); }
};

}  // namespace snowflake_ids::test
