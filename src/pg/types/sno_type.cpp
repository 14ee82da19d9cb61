// The type sno: input and casts. The rest is in id_type.hpp.
#include "pg/types/id_type.hpp"

namespace snowflake_ids {

using sno::Id;

ORDER_FUNCTIONS(sno)
BYTE_FUNCTIONS(sno)

FUNCTION(snowflake_ids_sno_in) { return id_or_null(fcinfo, id_from_text<sno::Type>(fcinfo)); }
FUNCTION(snowflake_ids_sno_recv) { return id_or_null(fcinfo, id_from_message<sno::Type>(fcinfo)); }

// As the sno document says, the uuid's 16 bytes are the 16 characters of the sno's text, and not its 10 bytes. So both
// have the same order.
FUNCTION(snowflake_ids_sno_to_uuid) {
    static_assert(sno::text_size == UUID_LEN);
    pg_uuid_t* uuid = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
    sno::print(id_argument<Id>(fcinfo, 0), reinterpret_cast<char*>(uuid->data));
    PG_RETURN_UUID_P(uuid);
}

FUNCTION(snowflake_ids_sno_from_uuid) {
    return id_or_null(fcinfo, id_from_uuid<sno::Type>(fcinfo, Source::uuid, [](const unsigned char* bytes) {
                          return sno::parse(reinterpret_cast<const char*>(bytes), UUID_LEN);
                      }));
}

}  // namespace snowflake_ids
