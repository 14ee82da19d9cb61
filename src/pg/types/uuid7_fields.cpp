// Fields of a uuid of version 7, and the uuids that bound a span of time. The type is PostgreSQL's own.
#include "core/uuid7.hpp"

#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

using uuid7::Id;

// The time of the uuid in argument 0, or NULL if it is not of version 7. The time is in whole milliseconds, as in
// uuid_extract_timestamp() of PostgreSQL 18. The bits below the milliseconds may be anything, because they depend on
// the program that made the uuid.
FUNCTION(snowflake_ids_uuid7_timestamp) {
    const Id& id = id_argument<Id>(fcinfo, 0);
    if (!uuid7::is_valid(id)) PG_RETURN_NULL();
    PG_RETURN_TIMESTAMPTZ(timestamptz(uuid7::time_of(id)));
}

// The smallest uuid of version 7 that has the time in argument 0 or a later one, and the largest that has this time or
// an earlier one. Each raises an error if there is no such uuid.
FUNCTION(snowflake_ids_uuid7_lower_bound) {
    return bound_datum(fcinfo, 0, "uuid", uuid7::timeline, uuid7::lower_bound);
}

FUNCTION(snowflake_ids_uuid7_upper_bound) {
    return bound_datum(fcinfo, 0, "uuid", uuid7::timeline, uuid7::upper_bound);
}

}  // namespace snowflake_ids
