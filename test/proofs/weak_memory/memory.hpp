// The memory, a clock, the ceiling file, and the issued ids. Ticks are 0 to 7 with at most four sequence numbers, so
// all ids are the bits of one word.
#pragma once

#include "word.hpp"

#include "ledger/begin_life.hpp"
#include "ledger/ceiling_file.hpp"
#include "ledger/claim.hpp"
#include "ledger/find_slot.hpp"
#include "ledger/formats.hpp"
#include "ledger/reset.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::weak_memory {

inline Ceiling ceiling_at(Value tick) { return Ceiling{milliseconds{tick}}; }
inline Value tick_at(Ceiling c) { return static_cast<Value>(number_of(c)); }

struct Slot : ledger::BasicSlot<Word> {
    Slot() {
        key.begin("key");
        word.begin("word");
        safe.begin("safe");
        ceiling.begin("ceiling");
        begun.begin("begun");
        packed_layout.begin("packed_layout");
    }
};

struct Header {
    Word<> life_id, life_number, revision;
    Word<Floor> floor, reset_floor;

    Header() {
        life_id.begin("life_id");
        life_number.begin("life_number");
        floor.begin("floor");
        reset_floor.begin("reset_floor");
        revision.begin("revision");
    }
};

// `runs`: it never goes back.
struct Clock {
    Value low, high;
    bool runs = false;
    Value now = 0, last_monotonic = 0;  // monotonic time, in microseconds

    Result<Value> tick() {
        if (!runs) return between(low, high);
        pause();
        return low = between(low, high);
    }
    MonotonicTime monotonic() {
        pause();
        now = between(now, last_monotonic);
        return MonotonicTime{microseconds{now}};
    }
    microseconds until(Value) const { return microseconds{1}; }
    microseconds tick_length() const { return microseconds{1}; }
};

struct Ids {
    Value bits = 0;

    static Value bit(Value tick, Value toggle, Value sequence) {
        return Value{1} << (tick << 3 | toggle << 2 | sequence);
    }
    // No id of `tick` or earlier may be issued from now on.
    void cover(Value tick) { bits |= tick >= 7 ? ~Value{0} : bit(tick + 1, 0, 0) - 1; }
    void cover(const State& s, const Rules& rules) {
        for (Value tick = 0; tick <= 7; tick++) {
            for (Value sequence = 0; sequence <= 3; sequence++) {
                if (tick < s.tick || (tick == s.tick && sequence < s.next)) bits |= bit(tick, s.toggle(), sequence);
                if (rules.has_toggle && tick <= s.safe) bits |= bit(tick, s.toggle() ^ 1, sequence);
            }
        }
    }
    void issue(const ledger::Claim& c, const Rules& rules) {
        if (c.outcome != ledger::Outcome::issued) return;
        for (std::uint32_t i = 0; i < c.count; i++) {
            require(c.first + i <= rules.max, "issued beyond the bounds");
            const Value id = bit(c.tick, c.toggle, c.first + i);
            require((bits & id) == 0, "issued twice, or at or below a floor");
            bits |= id;
        }
    }
};

inline void begin(Slot& slot, const State& s, bool has_toggle) {
    slot.word.begin("word", ledger::pack(s, has_toggle));
    slot.safe.begin("safe", s.safe);
}

inline ledger::Claim claim(Slot& slot, Clock& clock, std::uint32_t want, const Rules& rules,
                           Value limit = ledger::no_limit) {
    return rules.has_toggle ? ledger::claim<true>(slot, clock, want, rules, limit)
                            : ledger::claim<false>(slot, clock, want, rules, limit);
}

// The kernel has its lock and bytes, so accesses are seen in order.
struct File {
    struct Content {
        ledger::Life life;
        Floor floor{};
        ledger::CeilingEntry entries[2];
    };
    Content* disk;

    ledger::CeilingResult read(Content& c) const {
        pause();
        c = *disk;
        return {};
    }
    ledger::CeilingResult write(const Content& c) const {
        pause();
        *disk = c;
        return {};
    }
};

}  // namespace snowflake_ids::weak_memory
