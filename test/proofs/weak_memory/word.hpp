// The word of the ledger's templates here: Relacy's atomic with the code's memory orders. Each place that accesses a
// word is a site, which can be weakened.
//
// A load answers with any recent value that the memory model allows. Relacy cannot show a load of a later store, or an
// order of seq_cst accesses other than the one that ran. So a weak access among seq_cst ones looks too strong, and
// accesses are weakened where the others are acquire and release.
#pragma once

#include "checker.hpp"

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>

namespace snowflake_ids::weak_memory {

using Value = std::uint64_t;

inline unsigned pick(unsigned n) { return n < 2 ? 0 : rl::rand(n); }
inline Value between(Value low, Value high) { return low + pick(static_cast<unsigned>(high - low + 1)); }
inline void pause() { rl::ctx().sched(); }

inline const char* complaint = "";

inline void fail(const char* what) {
    complaint = what;
    rl::ctx().fail_test(what, rl::test_result_user_assert_failed, rl::debug_info());
}
inline void require(bool holds, const char* otherwise) {
    if (!holds) fail(otherwise);
}

enum class Operation : unsigned char { load, store, swap, add };
inline const char* name_of(Operation o) {
    static constexpr const char* names[] = {"load", "store", "swap", "add"};
    return names[static_cast<int>(o)];
}
inline const char* name_of(std::memory_order order) { return rl::format(static_cast<rl::memory_order>(order)); }

// Shared templates, as lift_to(), are a site for each word.
struct Site {
    const char* word;
    Operation operation;
    std::memory_order order;  // as the code has it
    std::source_location at;
    std::uint32_t scenes = 0;  // a bit for each scene that came here

    bool is(const char* w, Operation o, const std::source_location& l) const {
        return at.line() == l.line() && at.column() == l.column() && word == w && operation == o &&
               std::strcmp(at.file_name(), l.file_name()) == 0;
    }
};

// Not a vector, whose memory Relacy would take for the test's.
struct Sites {
    static constexpr unsigned most = 256;
    Site site[most];
    unsigned count = 0;
    std::uint32_t scene = 0;  // the bit of the scene that runs; 0: sites are not noted
};
inline Sites sites;

// `capped`: acquire and release for seq_cst, except at kept sites; then the order of one site.
struct Weakening {
    static constexpr unsigned most = 32;
    bool capped = false;
    const Site* kept[most];
    unsigned kept_count = 0;
    const Site* site = nullptr;
    std::memory_order order = std::memory_order_seq_cst;
};
inline Weakening weakening;

inline void note(const char* word, Operation o, std::memory_order order, const std::source_location& at) {
    for (unsigned i = 0; i < sites.count; i++) {
        if (sites.site[i].is(word, o, at)) {
            sites.site[i].scenes |= sites.scene;
            return;
        }
    }
    RL_VERIFY(sites.count < Sites::most);
    sites.site[sites.count++] = {word, o, order, at, sites.scene};
}

// Relacy's orders are C++'s, by number.
static_assert(int{rl::mo_relaxed} == static_cast<int>(std::memory_order_relaxed) &&
              int{rl::mo_acquire} == static_cast<int>(std::memory_order_acquire) &&
              int{rl::mo_release} == static_cast<int>(std::memory_order_release) &&
              int{rl::mo_acq_rel} == static_cast<int>(std::memory_order_acq_rel) &&
              int{rl::mo_seq_cst} == static_cast<int>(std::memory_order_seq_cst));

inline std::memory_order capped(Operation o) {
    return o == Operation::load    ? std::memory_order_acquire
           : o == Operation::store ? std::memory_order_release
                                   : std::memory_order_acq_rel;
}

inline rl::memory_order order_at(const char* word, Operation o, std::memory_order order,
                                 const std::source_location& at) {
    const Weakening& w = weakening;
    if (word != nullptr) {
        if (sites.scene != 0) note(word, o, order, at);
        bool keeps = !w.capped;
        for (unsigned i = 0; i < w.kept_count && !keeps; i++) keeps = w.kept[i]->is(word, o, at);
        if (!keeps && order == std::memory_order_seq_cst) order = capped(o);
        if (w.site != nullptr && w.site->is(word, o, at)) order = w.order;
    }
    return static_cast<rl::memory_order>(order);
}

inline rl::memory_order order_of_failure(rl::memory_order order) {
    return order == rl::mo_acq_rel ? rl::mo_acquire : order == rl::mo_release ? rl::mo_relaxed : order;
}

// A word without a name has no sites.
template <class T = Value>
class Word {
public:
    using Order = std::memory_order;
    using Place = std::source_location;

    Word() = default;
    Word(const Word&) = delete;
    Word& operator=(const Word&) = delete;

    void begin(const char* name, T value = {}) {
        name_ = name;
        value_.store(bits(value), rl::mo_relaxed, rl::debug_info());
    }
    T last() const { return std::bit_cast<T>(value_.debug_value()); }

    T load(Order order = Order::seq_cst, Place at = Place::current()) const {
        return std::bit_cast<T>(value_.load(order_at(name_, Operation::load, order, at), info(at)));
    }
    void store(T value, Order order = Order::seq_cst, Place at = Place::current()) {
        value_.store(bits(value), order_at(name_, Operation::store, order, at), info(at));
    }
    Value fetch_add(Value n, Order order = Order::seq_cst, Place at = Place::current()) {
        return value_.fetch_add(n, order_at(name_, Operation::add, order, at), info(at));
    }
    bool compare_exchange_strong(T& expected, T desired, Order order = Order::seq_cst, Place at = Place::current()) {
        const rl::memory_order o = order_at(name_, Operation::swap, order, at);
        const auto swap = [&](Value& seen) { return value_.compare_exchange_strong(seen, bits(desired), o, info(at)); };
        return !fails_on_old(expected, o, at) && on_bits(expected, swap);
    }
    bool compare_exchange_weak(T& expected, T desired, Order order = Order::seq_cst, Place at = Place::current()) {
        const rl::memory_order o = order_at(name_, Operation::swap, order, at);
        const auto swap = [&](Value& seen) { return value_.compare_exchange_weak(seen, bits(desired), o, info(at)); };
        return !fails_on_old(expected, o, at) && on_bits(expected, swap);
    }

private:
    static Value bits(T value) { return std::bit_cast<Value>(value); }
    template <class Swap>
    static bool on_bits(T& expected, Swap swap) {
        Value seen = bits(expected);
        const bool done = swap(seen);
        expected = std::bit_cast<T>(seen);
        return done;
    }
    // A swap that fails may answer with an old value. Relacy's own does not.
    bool fails_on_old(T& expected, rl::memory_order order, const Place& at) const {
        if (pick(4) != 0) return false;
        const auto seen = std::bit_cast<T>(value_.load(order_of_failure(order), info(at)));
        if (seen == expected) return false;
        expected = seen;
        return true;
    }
    static rl::debug_info info(const Place& at) { return {at.function_name(), at.file_name(), at.line()}; }

    const char* name_ = nullptr;
    rl::atomic<Value> value_;
};

class Held {
public:
    explicit Held(rl::mutex& m) : mutex_(m) { mutex_.lock(rl::debug_info()); }
    ~Held() { mutex_.unlock(rl::debug_info()); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

private:
    rl::mutex& mutex_;
};

}  // namespace snowflake_ids::weak_memory
