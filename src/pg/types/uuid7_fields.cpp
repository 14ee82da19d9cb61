// The time of a uuid of version 7, and the uuids that bound a span of time.
#include "core/uuid7.hpp"

#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

using uuid7::Id;

// NULL if the uuid is not of version 7. In whole milliseconds, as uuid_extract_timestamp() of PostgreSQL 18: the bits
// below may be anything.
FUNCTION(snowflake_ids_uuid7_timestamp) {
    const Id& id = id_argument<Id>(fcinfo, 0);
    if (!uuid7::is_valid(id)) PG_RETURN_NULL();
    PG_RETURN_TIMESTAMPTZ(timestamptz(uuid7::time_of(id)));
}

FUNCTION(snowflake_ids_uuid7_lower_bound) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), "uuid", uuid7::timeline, uuid7::lower_bound);
}

FUNCTION(snowflake_ids_uuid7_upper_bound) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), "uuid", uuid7::timeline, uuid7::upper_bound);
}

}  // namespace snowflake_ids
