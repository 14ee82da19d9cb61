// Records and byte strings as results.
#include "pg/datum.hpp"

#include <cstring>

extern "C" {
#include "access/htup_details.h"
#include "funcapi.h"
}

namespace snowflake_ids {

namespace {

// Looked up once for each place in a query, because OUT parameters cannot change while it runs.
TupleDesc row_type(FunctionCallInfo fcinfo) {
    FmgrInfo* flinfo = fcinfo->flinfo;
    if (flinfo->fn_extra == nullptr) {
        TupleDesc found;
        if (get_call_result_type(fcinfo, nullptr, &found) != TYPEFUNC_COMPOSITE)
            elog(ERROR, "function %u does not return a row", flinfo->fn_oid);
        const MemoryContext old = MemoryContextSwitchTo(flinfo->fn_mcxt);
        flinfo->fn_extra = BlessTupleDesc(CreateTupleDescCopy(found));
        MemoryContextSwitchTo(old);
    }
    return static_cast<TupleDesc>(flinfo->fn_extra);
}

}  // namespace

Datum record(FunctionCallInfo fcinfo, Datum* values, int count, bool* nulls) {
    const TupleDesc type = row_type(fcinfo);
    // This happens only if the SQL of the extension does not fit the library.
    if (type->natts != count || count > Columns::most)
        elog(ERROR, "function %u returns %d columns instead of %d", fcinfo->flinfo->fn_oid, type->natts, count);
    bool no_nulls[Columns::most] = {};
    return HeapTupleGetDatum(heap_form_tuple(type, values, nulls != nullptr ? nulls : no_nulls));
}

Datum bytea_datum(const void* bytes, int length) {
    bytea* out = static_cast<bytea*>(palloc(VARHDRSZ + length));
    SET_VARSIZE(out, VARHDRSZ + length);
    std::memcpy(VARDATA(out), bytes, length);
    return PointerGetDatum(out);
}

}  // namespace snowflake_ids
