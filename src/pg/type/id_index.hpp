// Indexes and sorting for any id type: sort support with abbreviated keys, skip support, min and max. sno_index.cpp and
// gid_index.cpp make SQL functions of it.
//
// `Format` stands for one type: Id, SortKey, name, lowest, highest. next() and previous() are those of core/order.hpp,
// found through the id's namespace.
#pragma once

#include "core/order.hpp"
#include "pg/datum.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "common/hashfn.h"
#include "lib/hyperloglog.h"
#include "utils/guc.h"
#include "utils/sortsupport.h"
}

namespace snowflake_ids {

// ---- sorting
//
// The server sorts abbreviated keys (core/order.hpp describes them), and compares whole ids only if two keys are
// equal. It asks now and then whether that saves time. It does not, if nearly all keys are the same.

template <class Format>
struct SortState {
    int64 seen;                    // ids abbreviated so far
    bool counting;                 // is the number of different keys still estimated?
    hyperLogLogState cardinality;  // of the keys
    typename Format::SortKey key;  // valid once an id was seen
};

template <class Format>
int compare_datums(Datum a, Datum b, SortSupport) {
    using Id = typename Format::Id;
    return compare(id_in<Id>(a), id_in<Id>(b));
}

template <class Format>
Datum abbreviate(Datum original, SortSupport support) {
    auto* state = static_cast<SortState<Format>*>(support->ssup_extra);
    const auto& id = id_in<typename Format::Id>(original);
    if (state->seen++ == 0) state->key = typename Format::SortKey(id);
    const uint64 key = state->key(id);
    if (state->counting) {
        // The upper half of the product depends on every bit of the key.
        const uint64 mixed = key * UINT64CONST(0x9e3779b97f4a7c15);
        addHyperLogLog(&state->cardinality, hash_bytes_uint32(static_cast<uint32>(mixed >> 32)));
    }
    return static_cast<Datum>(key >> (64 - 8 * sizeof(Datum)));
}

// Should the sort continue without abbreviated keys? The thresholds are those of the server's own types:
//   - the first answer after 10,000 ids;
//   - no, once there were more than 100,000 different keys;
//   - yes, if fewer than one id in 2,000 has a different key.
template <class Format>
bool stop_abbreviating(int rows, SortSupport support) {
    auto* state = static_cast<SortState<Format>*>(support->ssup_extra);
    if (rows < 10000 || state->seen < 10000 || !state->counting) return false;
    const double keys = estimateHyperLogLog(&state->cardinality);
    const bool stop = keys < static_cast<double>(state->seen) / 2000 + 0.5;
    if (keys > 100000) state->counting = false;
    if (trace_sort)
        elog(LOG, "%s_abbrev: %s at %.0f different keys in " INT64_FORMAT " values (%d rows)", Format::name,
             stop              ? "aborting"
             : state->counting ? "continuing"
                               : "estimation ends",
             keys, state->seen, rows);
    return stop;
}

template <class Format>
Datum prepare_sort(FunctionCallInfo fcinfo) {
    const SortSupport support = reinterpret_cast<SortSupport>(PG_GETARG_POINTER(0));
    support->comparator = compare_datums<Format>;
    if (!support->abbreviate) PG_RETURN_VOID();

    const MemoryContext old = MemoryContextSwitchTo(support->ssup_cxt);
    auto* state = static_cast<SortState<Format>*>(palloc0(sizeof(SortState<Format>)));
    state->counting = true;
    initHyperLogLog(&state->cardinality, 10);
    MemoryContextSwitchTo(old);

    support->ssup_extra = state;
    // Only with this comparator the server uses its sort for plain numbers.
    support->comparator = ssup_datum_unsigned_cmp;
    support->abbrev_converter = abbreviate<Format>;
    support->abbrev_abort = stop_abbreviating<Format>;
    support->abbrev_full_comparator = compare_datums<Format>;
    PG_RETURN_VOID();
}

// ---- skip scans

template <class Format>
Datum skip_to_next(Relation, Datum existing, bool* overflow) {
    const Neighbour<typename Format::Id> n = next(id_in<typename Format::Id>(existing));
    *overflow = !n.exists;
    return n.exists ? id_datum(n.id) : Datum{0};
}

template <class Format>
Datum skip_to_previous(Relation, Datum existing, bool* overflow) {
    const Neighbour<typename Format::Id> n = previous(id_in<typename Format::Id>(existing));
    *overflow = !n.exists;
    return n.exists ? id_datum(n.id) : Datum{0};
}

template <class Format>
Datum prepare_skip(FunctionCallInfo fcinfo) {
    const SkipSupport support = reinterpret_cast<SkipSupport>(PG_GETARG_POINTER(0));
    support->low_elem = id_datum(Format::lowest);
    support->high_elem = id_datum(Format::highest);
    support->decrement = skip_to_previous<Format>;
    support->increment = skip_to_next<Format>;
    PG_RETURN_VOID();
}

// ---- min and max: no copy is needed, because the aggregate makes one

template <class Format>
Datum smaller(FunctionCallInfo fcinfo) {
    using Id = typename Format::Id;
    return compare(id_argument<Id>(fcinfo, 0), id_argument<Id>(fcinfo, 1)) <= 0 ? PG_GETARG_DATUM(0)
                                                                                : PG_GETARG_DATUM(1);
}

template <class Format>
Datum larger(FunctionCallInfo fcinfo) {
    using Id = typename Format::Id;
    return compare(id_argument<Id>(fcinfo, 0), id_argument<Id>(fcinfo, 1)) >= 0 ? PG_GETARG_DATUM(0)
                                                                                : PG_GETARG_DATUM(1);
}

}  // namespace snowflake_ids
