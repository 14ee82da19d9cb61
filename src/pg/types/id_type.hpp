// Templates of SQL functions that several id types have. The macros at the end make SQL functions of any comparison.
#pragma once

#include <cstring>
#include <new>

#include "core/gid_sort_key.hpp"
#include "core/mastic.hpp"
#include "core/sno_sort_key.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"
#include "pg/types/id_cmp.hpp"

extern "C" {
#include "libpq/pqformat.h"
#include "utils/sortsupport.h"
}

namespace snowflake_ids {

// ---- input and output
//
// `what` is the name of the type in errors. If the input is no id, these raise an error; in a context of soft errors
// (fcinfo->context) they save it and return NULL.

template <auto& parse>
Datum id_from_text(FunctionCallInfo fcinfo, const char* what) {
    const char* text = PG_GETARG_CSTRING(0);
    const auto id = parse(text, std::strlen(text));
    if (id) [[likely]]
        return id_datum(id.value);
    report(id.error, {.source = Source::text, .what = what, .shown = text}, fcinfo->context);
    PG_RETURN_NULL();
}

template <auto& from_bytes>
Datum id_from_bytes(FunctionCallInfo fcinfo, const char* what, const void* from, int length) {
    const auto* bytes = static_cast<const unsigned char*>(from);
    const auto size = static_cast<std::size_t>(length);
    const auto id = from_bytes(bytes, size);
    if (id) [[likely]]
        return id_datum(id.value);
    report(id.error, {.source = Source::binary, .what = what, .shown = show_bytes(bytes, size)}, fcinfo->context);
    PG_RETURN_NULL();
}

template <auto& from_bytes>
Datum id_from_message(FunctionCallInfo fcinfo, const char* what) {
    StringInfo message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    const int length = message->len - message->cursor;
    return id_from_bytes<from_bytes>(fcinfo, what, pq_getmsgbytes(message, length), length);
}

template <auto& from_bytes>
Datum id_from_bytea(FunctionCallInfo fcinfo, const char* what) {
    const bytea* value = PG_GETARG_BYTEA_PP(0);
    return id_from_bytes<from_bytes>(fcinfo, what, VARDATA_ANY(value), static_cast<int>(VARSIZE_ANY_EXHDR(value)));
}

template <class Id, std::size_t size>
Datum id_to_text(FunctionCallInfo fcinfo) {
    char* text = static_cast<char*>(palloc(size + 1));
    print(id_argument<Id>(fcinfo, 0), text);
    text[size] = '\0';
    PG_RETURN_CSTRING(text);
}

// ---- comparison

template <class Id>
int compare_arguments(FunctionCallInfo fcinfo) {
    return compare(id_argument<Id>(fcinfo, 0), id_argument<Id>(fcinfo, 1));
}

// ---- sorting
//
// PostgreSQL sorts abbreviated keys, the 64-bit sort_key() of a format, and compares whole ids only if two are equal. A
// key must never contradict the order (a < b gives key(a) <= key(b)), and should seldom be shared. Ids generated in
// bulk differ only after the first eight bytes, so a key leaves out bits that ids hardly use.

template <class Id>
int compare_datums(Datum a, Datum b, SortSupport) {
    return compare(id_in<Id>(a), id_in<Id>(b));
}

// Compared as an unsigned number.
template <class Id>
Datum abbreviate(Datum original, SortSupport support) {
    const Id& id = id_in<Id>(original);
    if (support->ssup_extra == nullptr)
        support->ssup_extra = new (MemoryContextAlloc(support->ssup_cxt, sizeof(Id))) Id(id);
    return sort_key(id, *static_cast<const Id*>(support->ssup_extra));
}

// PostgreSQL asks now and then whether to give keys up. If many rows share few ids, that would sort a little faster,
// but to find it out would slow down all other sorts.
inline bool keep_abbreviating(int, SortSupport) { return false; }

template <class Id>
Datum prepare_sort(FunctionCallInfo fcinfo) {
    const SortSupport support = reinterpret_cast<SortSupport>(PG_GETARG_POINTER(0));
    // With this comparator PostgreSQL uses its fast sort for plain numbers, such as keys. A mastic is its own key.
    support->comparator = ssup_datum_unsigned_cmp;
    if constexpr (!passed_by_value<Id>) {
        if (support->abbreviate) {
            support->abbrev_converter = abbreviate<Id>;
            support->abbrev_abort = keep_abbreviating;
            support->abbrev_full_comparator = compare_datums<Id>;
        } else {
            support->comparator = compare_datums<Id>;
        }
    }
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids

// Functions of a comparison, which is negative, 0 or positive: snowflake_ids_LEFT_ltRIGHT and so on.
#define INEQUALITY_FUNCTIONS(left, right, compared)                                 \
    FUNCTION(snowflake_ids_##left##_lt##right) { PG_RETURN_BOOL((compared) < 0); }  \
    FUNCTION(snowflake_ids_##left##_le##right) { PG_RETURN_BOOL((compared) <= 0); } \
    FUNCTION(snowflake_ids_##left##_gt##right) { PG_RETURN_BOOL((compared) > 0); }  \
    FUNCTION(snowflake_ids_##left##_ge##right) { PG_RETURN_BOOL((compared) >= 0); } \
    FUNCTION(snowflake_ids_##left##_cmp##right) { PG_RETURN_INT32(compared); }
#define COMPARE_FUNCTIONS(left, right, compared)                                    \
    INEQUALITY_FUNCTIONS(left, right, compared)                                     \
    FUNCTION(snowflake_ids_##left##_eq##right) { PG_RETURN_BOOL((compared) == 0); } \
    FUNCTION(snowflake_ids_##left##_ne##right) { PG_RETURN_BOOL((compared) != 0); }

// `type` is the name in SQL, and the namespace of its Id. The smaller and the larger argument are not copied, because the
// aggregates min and max do that.
#define ID_FUNCTIONS(type)                                                                   \
    COMPARE_FUNCTIONS(type, , compare_arguments<type::Id>(fcinfo))                           \
    FUNCTION(snowflake_ids_##type##_smaller) {                                               \
        return PG_GETARG_DATUM(compare_arguments<type::Id>(fcinfo) <= 0 ? 0 : 1);            \
    }                                                                                        \
    FUNCTION(snowflake_ids_##type##_larger) {                                                \
        return PG_GETARG_DATUM(compare_arguments<type::Id>(fcinfo) >= 0 ? 0 : 1);            \
    }                                                                                        \
    FUNCTION(snowflake_ids_##type##_sortsupport) { return prepare_sort<type::Id>(fcinfo); }  \
    FUNCTION(snowflake_ids_##type##_timestamp) {                                             \
        PG_RETURN_TIMESTAMPTZ(timestamptz(type::time_of(id_argument<type::Id>(fcinfo, 0)))); \
    }
