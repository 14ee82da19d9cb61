// What lies in the ledger file, byte for byte. Everything that changes is an atomic
// 64-bit word; nothing is guarded by a lock, so a process killed between any two
// instructions leaves a valid state.
//
//   offset 0     Header   one page: constants with a checksum, then the few shared words
//   offset 4096  Slot     slot_count of them, 192 bytes each: hot words, then counters
//
// A second file holds the durable ceilings: see ceiling.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace snowflake_ids::ledger {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8, "shared memory needs address-free atomics");

inline constexpr std::uint64_t magic = 0x5e0f1a6e1ed6e201;  // also tells the byte order
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint32_t slot_count = 1024;
inline constexpr std::size_t header_bytes = 4096;

// Which generator a slot belongs to. Stored in files: values never change meaning. `snowflake`: any 64-bit layout.
enum class Format : std::uint8_t { none = 0, sno = 1, sno_at = 2, snowflake = 3 };

// The identity of a slot; for Format::snowflake together with Slot::numbering. `owner` is no part of it: it is the
// database whose explicit call created the slot (0: a server-wide setting did), for the limit per database.
struct Key {
    Format format = Format::none;
    std::uint16_t node = 0;
    std::uint32_t owner = 0;

    constexpr std::uint64_t pack() const {
        return std::uint64_t{owner} << 32 | std::uint64_t{static_cast<std::uint8_t>(format)} << 16 | node;
    }
    static constexpr Key unpack(std::uint64_t v) {
        return {static_cast<Format>(v >> 16 & 0xff), static_cast<std::uint16_t>(v),
                static_cast<std::uint32_t>(v >> 32)};
    }
    constexpr bool same_generator(const Key& k) const { return format == k.format && node == k.node; }
};

// Of one thing that goes on for a while.
struct Occurrence {
    static constexpr std::uint64_t cut_short = std::uint64_t{1} << 63;  // in `seen`: by the end of a server life

    Word seen;     // monotonic microseconds: when it last was
    Word calls;    // that have waited
    Word wait_us;  // their total time
};

struct Counters {
    Word issued;          // ids claimed; backends add theirs once per tick and transaction
    Word overflow_waits;  // draws that had to wait because the sequence was used up
    Word wait_us;         // their total time
    Word waiting;         // backends waiting now: waiting.hpp
    Word regressions;     // tick-tock toggles
    Word holds;           // draws that had to take a new tick while the clock was behind
    // What goes on now, for the log: see pg/draw/occurrence.hpp. First when it began, 0: it does not, in the line of
    // `issued`.
    Word overflow_began;
    Word behind_began;
    Occurrence overflow;
    Occurrence behind;  // the clock is behind the last id
    Word behind_ticks;  // ticks that were begun ahead of the clock since
    Word behind_us;     // how far behind it was at first

    bool anything_goes_on() const {
        return (overflow_began.load(std::memory_order_relaxed) | behind_began.load(std::memory_order_relaxed)) != 0;
    }
};

// One generator. The first line is the hot one.
template <class W>
struct BasicSlot {
    W key;      // Key::pack(), 0: free. Set once by compare-and-swap
    W word;     // see word.hpp
    W safe;     // highest tick that may have been used under the other toggle; only raised
    W ceiling;  // Unix ms; ticks at or beyond it may not be issued. Only raised, and only
                // to what the ceiling file holds and has been synced; 0: none yet
    W begun;    // see claim.hpp: when a held tick was begun
    // Format::snowflake: numbering.hpp. Set once, by compare-and-swap from 0, before the key is, and in the same sector of
    // the file: a process that sees the key sees the numbering, after a power loss and in a copy of the file too. A creator killed in
    // between leaves a free slot that only this numbering, or another format, can take.
    W numbering;
    W lead;  // see claim.hpp: how far a floor has put it ahead of the clock
    W reserved;
};

struct alignas(64) Slot : BasicSlot<Word> {
    Counters counters;
};
static_assert(sizeof(Slot) == 192 && sizeof(Counters) == 128);

struct Header {
    // Constant after creation, covered by `checksum`.
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t slot_bytes;
    std::uint32_t slot_count;
    std::uint32_t reserved0;
    std::uint64_t system_identifier;  // of the cluster that made the file
    std::int64_t created_us;          // Unix microseconds
    std::uint64_t checksum;
    // Shared words.
    Word si_layout;      // numbering of Snowflake-SI ids, frozen at the first one; see formats.hpp
    Word floor_ms;       // Unix ms; every slot, existing or new, has been raised above it
    Word lives;          // number of server lives that used the file
    Word life_id;        // random number of this life, never 0 once begun
    Word life_key[3];    // of this life, see life.hpp; written last
    Word epoch;          // counts resets: generators set up under an older one are set up again
    Word raising_until;  // monotonic microseconds: until then somebody raises ceilings ahead of need
};
static_assert(sizeof(Header) <= header_bytes);

inline constexpr std::size_t file_bytes = header_bytes + slot_count * sizeof(Slot);

}  // namespace snowflake_ids::ledger
