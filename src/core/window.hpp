// Which ids belong to a span of time: time predicates are turned into that.
//
// A predicate on an id's time (before, after, within) is true for the ids of one closed interval in the order of the
// format. The times of a predicate are a closed interval too, because time is in whole microseconds: "after t" is
// "from t + 1". So one rule serves every comparison and range:
//
//   times [from, to]  ->  ids [lower_bound(from), upper_bound(to)]
//
// No bit pattern is above all ids or below all ids, so an empty set cannot be one comparison with a bound. It is
// written as the interval from the last id to the first, which contains nothing.
#pragma once

#include <cstdint>
#include <limits>

#include "core/gid.hpp"
#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/uuid7.hpp"

namespace snowflake_ids {

// Numbered as PostgreSQL's btree strategies.
enum class Comparison : unsigned char { less = 1, less_equal = 2, greater_equal = 4, greater = 5 };

// a < b is b > a.
constexpr Comparison commuted(Comparison c) { return static_cast<Comparison>(6 - static_cast<int>(c)); }

// True for a lower bound of the time: it leaves out earlier ids. An upper bound leaves out later ones.
constexpr bool is_lower(Comparison c) { return c == Comparison::greater_equal || c == Comparison::greater; }

// Microseconds, both ends included; from > to is empty. The ends of int64 mean the infinities.
struct Times {
    std::int64_t from = std::numeric_limits<std::int64_t>::min();
    std::int64_t to = std::numeric_limits<std::int64_t>::max();

    constexpr bool empty() const { return from > to; }
    static constexpr Times none() {
        return {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    }

    // The times x for which "x comparison us" is true.
    static constexpr Times that_are(Comparison comparison, std::int64_t us) {
        Times times;
        switch (comparison) {
            case Comparison::greater_equal:
                times.from = us;
                break;
            case Comparison::less_equal:
                times.to = us;
                break;
            case Comparison::greater:
                if (us == times.to) return none();
                times.from = us + 1;
                break;
            case Comparison::less:
                if (us == times.from) return none();
                times.to = us - 1;
                break;
        }
        return times;
    }

    constexpr Times and_also(const Times& other) const {
        return {from > other.from ? from : other.from, to < other.to ? to : other.to};
    }
};

// The bounds of a format: its first and last id, and the smallest and largest id of a time (Unix microseconds).
struct SnoBounds {
    using Id = sno::Id;

    constexpr Result<Id> lower(std::int64_t us) const { return sno::lower_bound(us); }
    constexpr Result<Id> upper(std::int64_t us) const { return sno::upper_bound(us); }
    constexpr Id first() const { return sno::compose({}); }
    constexpr Id last() const { return sno::upper_bound(sno::timeline.end_us()).value; }
};

// The gids of one kind.
struct GidBounds {
    using Id = gid::Id;
    gid::Kind kind;

    constexpr Result<Id> lower(std::int64_t us) const { return gid::lower_bound(kind, us); }
    constexpr Result<Id> upper(std::int64_t us) const { return gid::upper_bound(kind, us); }
    constexpr Id first() const { return gid::lower_bound(kind, gid::timeline.epoch_us).value; }
    constexpr Id last() const { return gid::upper_bound(kind, gid::timeline.end_us()).value; }
};

// The uuids of version 7. Uuids of other versions may be between two of them.
struct Uuid7Bounds {
    using Id = uuid7::Id;

    constexpr Result<Id> lower(std::int64_t us) const { return uuid7::lower_bound(us); }
    constexpr Result<Id> upper(std::int64_t us) const { return uuid7::upper_bound(us); }
    constexpr Id first() const { return uuid7::compose({}); }
    constexpr Id last() const { return uuid7::upper_bound(uuid7::timeline.end_us()).value; }
};

struct LayoutBounds {
    using Id = std::uint64_t;
    Layout layout;

    constexpr Result<Id> lower(std::int64_t us) const { return layout.lower_bound(us); }
    constexpr Result<Id> upper(std::int64_t us) const { return layout.upper_bound(us); }
    constexpr Id first() const { return 0; }
    constexpr Id last() const { return layout.max_id(); }
};

struct MasticBounds {
    using Id = mastic::Id;

    constexpr Result<Id> lower(std::int64_t us) const { return id_of(mastic::layout.lower_bound(us)); }
    constexpr Result<Id> upper(std::int64_t us) const { return id_of(mastic::layout.upper_bound(us)); }
    constexpr Id first() const { return {0}; }
    constexpr Id last() const { return {mastic::layout.max_id()}; }

private:
    static constexpr Result<Id> id_of(const Result<std::uint64_t>& number) {
        if (!number) return number.error;
        return Id{number.value};
    }
};

// Both ends included. An empty window has the last id first.
template <class Id>
struct Window {
    Id first, last;

    constexpr bool empty() const { return last < first; }
};

template <class Bounds>
constexpr Window<typename Bounds::Id> window(const Bounds& bounds, const Times& times) {
    const auto lower = bounds.lower(times.from);
    const auto upper = bounds.upper(times.to);
    // If no tick starts within the times, both bounds exist, but the lower one is above the upper one.
    if (times.empty() || !lower || !upper || upper.value < lower.value) return {bounds.last(), bounds.first()};
    return {lower.value, upper.value};
}

// "time(id) comparison us" as one comparison between ids, with the same operator: `<` and `>=` with the smallest id at
// or after the time, `<=` and `>` with the largest id at or before it. If there is no such id, or if it is the first
// or last id of the format, the answer is all or none.
template <class Id>
struct Cut {
    enum Kind : unsigned char { none, all, at } kind;
    Id id;
};

template <class Bounds>
constexpr Cut<typename Bounds::Id> cut(const Bounds& bounds, Comparison comparison, std::int64_t us) {
    using Id = typename Bounds::Id;
    const bool up = comparison == Comparison::less || comparison == Comparison::greater_equal;
    const Result<Id> bound = up ? bounds.lower(us) : bounds.upper(us);
    const Id end = up ? bounds.first() : bounds.last();
    // Without a bound every id is earlier (up) or later (down). If the bound is the format's end, every id is on the
    // other side of it.
    if (bound && !(bound.value == end)) return {Cut<Id>::at, bound.value};
    const bool ids_are_earlier = up ? !bound : static_cast<bool>(bound);
    return {ids_are_earlier != is_lower(comparison) ? Cut<Id>::all : Cut<Id>::none, end};
}

}  // namespace snowflake_ids
