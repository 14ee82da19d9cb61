// Converts ids, numbers and records between SQL and C++.
#pragma once

#include <bit>

#include "core/error.hpp"
#include "core/layout.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

template <class Id>
inline constexpr bool passed_by_value = sizeof(Id) == sizeof(Datum);

// A mastic as a value; a sno, gid or uuid as a reference into the Datum: these have a fixed length and no alignment,
// and are never toasted.
template <class Id>
decltype(auto) id_in(Datum datum) {
    if constexpr (passed_by_value<Id>) {
        return std::bit_cast<Id>(datum);
    } else {
        static_assert(alignof(Id) == 1);
        return *reinterpret_cast<const Id*>(DatumGetPointer(datum));
    }
}

template <class Id>
decltype(auto) id_argument(FunctionCallInfo fcinfo, int n) {
    return id_in<Id>(PG_GETARG_DATUM(n));
}

template <class Id>
Datum id_datum(const Id& id) {
    if constexpr (passed_by_value<Id>) {
        return std::bit_cast<Datum>(id);
    } else {
        Id* copy = static_cast<Id*>(palloc(sizeof(Id)));
        *copy = id;
        return PointerGetDatum(copy);
    }
}

// `what` is the word for the argument or the ids in errors, here and below.
inline uint32 number_argument(FunctionCallInfo fcinfo, int n, const char* what, int64 last) {
    const int32 value = PG_GETARG_INT32(n);
    if (value < 0 || value > last) fail_range(what, value, 0, last);
    return static_cast<uint32>(value);
}

// Raises an error if the id has bits above the layout.
inline Layout::Fields split_id(const Layout& layout, int64 id, const char* what) {
    const Result<Layout::Fields> fields = layout.split(static_cast<uint64>(id));
    if (!fields) fail_range(what, id, 0, static_cast<int64>(layout.max_id()));
    return fields.value;
}

inline uint64 tick_argument(FunctionCallInfo fcinfo, int n, const char* what, const Timeline& timeline) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(n);
    const Result<std::uint64_t> tick = timeline.floor_tick(unix_time(t));
    if (!tick) fail_time(what, timeline, t);
    return tick.value;
}

// `of(time)` finds the lowest or highest id, as a Result. Raises an error if there is none.
template <class Of>
Datum bound_datum(TimestampTz t, const char* what, const Timeline& timeline, Of of) {
    const auto id = of(unix_time(t));
    if (!id) fail_time(what, timeline, t);
    return id_datum(id.value);
}

// Without `nulls`, no value is null.
Datum record(FunctionCallInfo fcinfo, Datum* values, int count, bool* nulls = nullptr);

struct Columns {
    static constexpr int most = 15;  // OUT parameters of a function here
    Datum values[most] = {};
    bool nulls[most] = {};
    int count = 0;

    void add(Datum value, bool is_null = false) {
        values[count] = value;
        nulls[count++] = is_null;
    }
};

Datum bytea_datum(const void* bytes, int length);

}  // namespace snowflake_ids
