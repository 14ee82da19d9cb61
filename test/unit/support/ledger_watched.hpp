// A slot whose every access goes through a watcher, and a clock likewise. The claim's
// templates take them as they take the real ones, so a test can see the order of accesses,
// act between any two of them, or end the claim there as a SIGKILL would.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/error.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::test {

// The words of a slot that a claim touches.
enum Cell : unsigned { key_cell, word_cell, safe_cell, ceiling_cell, begun_cell, cell_count };

struct Watcher {
    virtual std::uint64_t load(Cell cell) = 0;
    // Like compare_exchange_strong.
    virtual bool swap(Cell cell, std::uint64_t& expected, std::uint64_t desired) = 0;
    virtual void store(Cell cell, std::uint64_t value) = 0;
    virtual Result<std::uint64_t> tick() = 0;
    virtual std::uint64_t monotonic_us() = 0;
    virtual std::int64_t us_until(std::uint64_t tick) = 0;
    virtual std::int64_t tick_us() = 0;

protected:
    ~Watcher() = default;
};

// The part of std::atomic that the ledger uses. Memory is sequentially consistent, whatever order is named. A weak swap never fails for no reason here. A word that nobody watches
// is 0.
class WatchedWord {
public:
    std::uint64_t load(std::memory_order = std::memory_order_seq_cst) const {
        return watcher_ != nullptr ? watcher_->load(cell_) : 0;
    }
    bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t desired) {
        return watcher_->swap(cell_, expected, desired);
    }
    bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t desired) {
        return watcher_->swap(cell_, expected, desired);
    }
    void store(std::uint64_t value, std::memory_order = std::memory_order_seq_cst) {
        if (watcher_ != nullptr) watcher_->store(cell_, value);
    }
    // In two accesses: nobody can tell, for a swap that fails is tried again.
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
        const auto watch = [&](WatchedWord& w, Cell cell) { w.watch(watcher, static_cast<Cell>(first + cell)); };
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
    std::uint64_t monotonic_us() const { return watcher->monotonic_us(); }
    std::int64_t us_until(std::uint64_t tick) const { return watcher->us_until(tick); }
    std::int64_t tick_us() const { return watcher->tick_us(); }
};

}  // namespace snowflake_ids::test
