// A word that calls a test before an access, so that the test acts as another process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace snowflake_ids::test {

template <class T = std::uint64_t>
struct HookedWord {
    T value{};
    // Each is called once. fetch_add() is a store.
    mutable std::function<void()> before_load{};
    std::function<void()> before_swap{}, before_store{};

    T load(std::memory_order = std::memory_order_seq_cst) const {
        call(before_load);
        return value;
    }
    void store(T v, std::memory_order = std::memory_order_seq_cst) {
        call(before_store);
        value = v;
    }
    T fetch_add(T n) {
        call(before_store);
        return std::exchange(value, value + n);
    }
    bool compare_exchange_strong(T& expected, T desired) {
        call(before_swap);
        if (value != expected) {
            expected = value;
            return false;
        }
        value = desired;
        return true;
    }
    bool compare_exchange_weak(T& expected, T desired) { return compare_exchange_strong(expected, desired); }

private:
    static void call(std::function<void()>& hook) {
        if (const auto act = std::exchange(hook, nullptr)) act();
    }
};

}  // namespace snowflake_ids::test
