// What processes share: the server's shared memory (pg/server/shared_ledger.hpp).
//
// Everything that changes is an atomic 64-bit word. There are no locks, so a process that ends between any two
// instructions leaves a valid state.
//
//   offset 0     Header   one page
//   offset 4096  Slot     slot_count of them, 128 bytes each: hot words, then counters
//   after them   Group    group_count of them, 64 bytes each
//
// No pointers: each process may see it at another address. What must outlive it is in the ceiling file and in WAL
// (wal_ceiling.hpp).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/time.hpp"

namespace snowflake_ids::ledger {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8, "shared memory needs address-free atomics");

// std::atomic<T> would move a class through an array, with a stack protector in each function.
template <class T>
class TimeWord {
public:
    T load(std::memory_order order = std::memory_order_seq_cst) const { return std::bit_cast<T>(word_.load(order)); }
    void store(T value, std::memory_order order = std::memory_order_seq_cst) { word_.store(bits(value), order); }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) {
        std::uint64_t seen = bits(expected);
        const bool done = word_.compare_exchange_strong(seen, bits(desired), order);
        expected = std::bit_cast<T>(seen);
        return done;
    }
    T fetch_add(T more, std::memory_order order = std::memory_order_seq_cst) {
        static_assert(std::is_same_v<T, microseconds>, "two points in time have no sum");
        return std::bit_cast<T>(word_.fetch_add(bits(more), order));
    }

private:
    static std::uint64_t bits(T value) { return std::bit_cast<std::uint64_t>(value); }

    Word word_;
};

template <class T>
using Holds = std::conditional_t<std::is_same_v<T, std::uint64_t>, Word, TimeWord<T>>;

template <class W>
void lift_to(W& word, decltype(word.load()) floor) {
    auto seen = word.load();
    while (seen < floor && !word.compare_exchange_strong(seen, floor)) {}
}

inline constexpr std::uint64_t magic = 0x5e0f1a6e1ed6e201;  // another number with another byte order
// The same in 1.x, so that sessions of two releases can share the memory, and an upgrade needs no restart. New words
// come from unused bytes: in the header's page or in a slot's first cache line. They are 0 until a session of a newer
// library writes them, and older ones leave them alone.
inline constexpr std::uint32_t memory_version = 1;
inline constexpr std::uint32_t slot_count = 1024;
inline constexpr std::size_t header_bytes = 4096;

// Stored in files, so values never change their meaning. `snowflake`: any 64-bit layout. `sno_at`: snos of times that
// the caller gives.
enum class Format : std::uint8_t { none = 0, sno = 1, sno_at = 2, snowflake = 3 };

// Identifies a generator, for Format::snowflake together with Slot::packed_layout. `node`: the partition or machine id.
// `owner`, for the limit per database: the database in which a call that names a partition or a created layout created
// the slot, or 0 for a server-wide setting.
struct Key {
    Format format = Format::none;
    std::uint16_t node = 0;
    std::uint32_t owner = 0;

    // 0 only for a free slot.
    constexpr std::uint64_t pack() const {
        return std::uint64_t{owner} << 32 | std::uint64_t{static_cast<std::uint8_t>(format)} << 16 | node;
    }
    static constexpr Key unpack(std::uint64_t v) {
        return {static_cast<Format>(v >> 16 & 0xff), static_cast<std::uint16_t>(v),
                static_cast<std::uint32_t>(v >> 32)};
    }
    constexpr bool same_generator(const Key& k) const { return format == k.format && node == k.node; }
};

struct Counters {
    Word issued;          // backends add theirs once per tick and transaction
    Word overflow_waits;  // claims that had to wait for a tick
    Holds<microseconds> waited;
    Word waiting;
    Word regressions;
    Word holds;  // claims that began a new tick while the clock was behind
    Holds<MonotonicTime> overflow_logged;
    Holds<MonotonicTime> regression_logged;
};

// The slot's first cache line, which every claim uses. The model checker has its own Holds.
template <template <class> class Holds>
struct BasicSlot {
    using Word = Holds<std::uint64_t>;

    Word key;   // Key::pack(), 0: free. Set once by compare-and-swap
    Word word;  // see packed_state.hpp
    Word safe;  // State::safe; only a forced reset lowers it
    // Ticks at or above it may not be issued. Lifted only to what the ceiling file has synced. A forced reset and a new
    // life may lower it. 0: none yet
    Holds<Ceiling> ceiling;
    Word begun;  // when a held tick was begun
    // Format::snowflake: see packed_layout.hpp. Set once, by compare-and-swap from 0, before the key. If the creator
    // ends in between, the slot stays free for this layout or another format.
    Word packed_layout;
    // No id of this time or earlier is generated any more (pass_now()). Only a forced reset lowers it
    Holds<UnixTime> passed;
};

struct Slot : BasicSlot<Holds> {
    alignas(64) Counters counters;
};
static_assert(sizeof(Slot) == 128 && sizeof(BasicSlot<Holds>) <= 64 && sizeof(Counters) == 64);

// begin_life.hpp
struct Life {
    std::uint64_t number = 0;  // grows
    std::uint64_t id = 0;      // random, never 0 once begun

    bool operator==(const Life&) const = default;
};

struct Header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t slot_bytes;
    std::uint32_t slot_count;
    std::uint32_t group_count;
    std::uint64_t bytes;  // of the whole ledger
    // words
    Word life_id;  // written after all else of the life; 0: no life has begun yet
    Word life_number;
    Holds<UnixTime> life_began;
    Holds<microseconds> lead;  // constant during a life
    Holds<UnixTime> stats_since;
    Holds<Floor> floor;              // nothing at or below it is issued, by existing or new slots
    Holds<Floor> reset_floor;        // that of snowflake_ids.reset(); also in the ceiling file
    Word revision;                   // every floor and reset adds one: sessions then set their generators up again
    Holds<MonotonicTime> next_pass;  // until then snowflake_ids.pass_now() waits, and uses up no tick
    Word warnings;                   // given in this life: pg/server/machine_id.cpp
    Word feed_life;                  // feed_lives.hpp; 0: none yet
};
static_assert(sizeof(Header) <= header_bytes);

// feed_wait.hpp
inline constexpr std::uint32_t groups_of_database = 128, group_count = 8 * groups_of_database;

struct alignas(64) Group {
    Word count;                // begins at a random number
    Word pace;                 // commits_stream_in() in pg/feed/wait.cpp
    std::uint64_t waiters[5];  // pg/server/feed_waiters.hpp
};
static_assert(sizeof(Group) == 64);

inline constexpr std::size_t memory_bytes = header_bytes + slot_count * sizeof(Slot) + group_count * sizeof(Group);

}  // namespace snowflake_ids::ledger
