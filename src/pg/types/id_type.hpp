// Templates of the SQL functions that each id type has, and for sno and gid, which are passed by reference, also input,
// output, hashing and bytea. `Type` is sno::Type, gid::Type or mastic::Type of core. The macros at the end make SQL
// functions of the templates and of any comparison.
#pragma once

#include <cstring>
#include <new>

#include "core/gid_order.hpp"
#include "core/mastic.hpp"
#include "core/sno_order.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"
#include "pg/types/id_cmp.hpp"

extern "C" {
#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/guc.h"
#include "utils/sortsupport.h"
#include "utils/uuid.h"
}

namespace snowflake_ids {

// ---- input and output
//
// If the input is no id, they raise an error; in a context of soft errors (fcinfo->context) they save it, and return no
// id.

template <class Type>
auto id_from_text(FunctionCallInfo fcinfo) {
    const char* text = PG_GETARG_CSTRING(0);
    const auto parsed = Type::parse(text, std::strlen(text));
    if (!parsed) report(parsed.error, {.source = Source::text, .what = Type::name, .shown = text}, fcinfo->context);
    return parsed;
}

template <class Type>
auto id_from_bytes(FunctionCallInfo fcinfo, const void* from, std::size_t length) {
    const auto* bytes = static_cast<const unsigned char*>(from);
    const auto read = Type::from_bytes(bytes, length);
    if (!read)
        report(read.error, {.source = Source::binary, .what = Type::name, .shown = show_bytes(bytes, length)},
               fcinfo->context);
    return read;
}

template <class Type>
auto id_from_message(FunctionCallInfo fcinfo) {
    StringInfo message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    const int length = message->len - message->cursor;
    return id_from_bytes<Type>(fcinfo, pq_getmsgbytes(message, length), static_cast<std::size_t>(length));
}

// `source` chooses the words of the error.
template <class Type, class Read>
auto id_from_uuid(FunctionCallInfo fcinfo, Source source, Read read) {
    const auto id = read(PG_GETARG_UUID_P(0)->data);
    if (!id)
        report(id.error,
               {.source = source,
                .what = Type::name,
                .shown = DatumGetCString(DirectFunctionCall1(uuid_out, PG_GETARG_DATUM(0)))},
               fcinfo->context);
    return id;
}

// NULL after a soft error.
template <class Id>
Datum id_or_null(FunctionCallInfo fcinfo, const Result<Id>& id) {
    if (!id) PG_RETURN_NULL();
    return id_datum(id.value);
}

// ---- comparison

template <class Type>
int compare_arguments(FunctionCallInfo fcinfo) {
    using Id = typename Type::Id;
    return compare(id_argument<Id>(fcinfo, 0), id_argument<Id>(fcinfo, 1));
}

// ---- sorting
//
// PostgreSQL sorts abbreviated keys, the 64-bit sort_key() of a format, and compares whole ids only if two are equal. A
// key must never contradict the order (a < b gives key(a) <= key(b)), and should seldom be shared. Ids generated in
// bulk differ only after the first eight bytes, so a key leaves out bits that ids hardly use.

template <class Type>
int compare_datums(Datum a, Datum b, SortSupport) {
    using Id = typename Type::Id;
    return compare(id_in<Id>(a), id_in<Id>(b));
}

// Compared as an unsigned number.
template <class Type>
Datum abbreviate(Datum original, SortSupport support) {
    using Id = typename Type::Id;
    const Id& id = id_in<Id>(original);
    if (support->ssup_extra == nullptr)
        support->ssup_extra = new (MemoryContextAlloc(support->ssup_cxt, sizeof(Id))) Id(id);
    return sort_key(id, *static_cast<const Id*>(support->ssup_extra));
}

// PostgreSQL asks now and then. If many rows share few ids, whole ids would be compared a little faster, but keys of
// other columns would pay for finding that out.
inline bool keep_abbreviating(int, SortSupport) { return false; }

template <class Type>
Datum prepare_sort(FunctionCallInfo fcinfo) {
    const SortSupport support = reinterpret_cast<SortSupport>(PG_GETARG_POINTER(0));
    if constexpr (passed_by_value<typename Type::Id>) {
        // A mastic is its own key. With this comparator PostgreSQL uses its fast sort for plain numbers.
        support->comparator = ssup_datum_unsigned_cmp;
    } else {
        support->comparator = compare_datums<Type>;
        if (!support->abbreviate) PG_RETURN_VOID();

        // for the fast sort, too
        support->comparator = ssup_datum_unsigned_cmp;
        support->abbrev_converter = abbreviate<Type>;
        support->abbrev_abort = keep_abbreviating;
        support->abbrev_full_comparator = compare_datums<Type>;
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

// `type` is the name in SQL, and the namespace of its Type. The aggregates min and max copy what smaller and larger
// return.
#define ORDER_FUNCTIONS(type)                                                       \
    COMPARE_FUNCTIONS(type, , compare_arguments<type::Type>(fcinfo))                \
    FUNCTION(snowflake_ids_##type##_smaller) {                                      \
        return PG_GETARG_DATUM(compare_arguments<type::Type>(fcinfo) <= 0 ? 0 : 1); \
    }                                                                               \
    FUNCTION(snowflake_ids_##type##_larger) {                                       \
        return PG_GETARG_DATUM(compare_arguments<type::Type>(fcinfo) >= 0 ? 0 : 1); \
    }                                                                               \
    FUNCTION(snowflake_ids_##type##_sortsupport) { return prepare_sort<type::Type>(fcinfo); }

// Functions of the types passed by reference. Input is not here, because gid has a type modifier. The binary output is
// that of the cast to bytea.
#define BYTE_FUNCTIONS(type)                                                                                        \
    FUNCTION(snowflake_ids_##type##_out) {                                                                          \
        char* text = static_cast<char*>(palloc(type::text_size + 1));                                               \
        type::print(id_argument<type::Id>(fcinfo, 0), text);                                                        \
        text[type::text_size] = '\0';                                                                               \
        PG_RETURN_CSTRING(text);                                                                                    \
    }                                                                                                               \
    FUNCTION(snowflake_ids_##type##_to_bytea) {                                                                     \
        return bytea_datum(id_argument<type::Id>(fcinfo, 0).bytes, type::binary_size);                              \
    }                                                                                                               \
    FUNCTION(snowflake_ids_##type##_from_bytea) {                                                                   \
        const bytea* value = PG_GETARG_BYTEA_PP(0);                                                                 \
        return id_or_null(fcinfo, id_from_bytes<type::Type>(fcinfo, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value))); \
    }                                                                                                               \
    FUNCTION(snowflake_ids_##type##_hash) {                                                                         \
        return UInt32GetDatum(hash_bytes(id_argument<type::Id>(fcinfo, 0).bytes, type::binary_size));               \
    }                                                                                                               \
    FUNCTION(snowflake_ids_##type##_hash_extended) {                                                                \
        return UInt64GetDatum(hash_bytes_extended(id_argument<type::Id>(fcinfo, 0).bytes, type::binary_size,        \
                                                  static_cast<uint64>(PG_GETARG_INT64(1))));                        \
    }
