// The type sno: input and casts. Comparison, sorting, output and hashing are templates in id_type.hpp. Layout and text
// are in core/sno.hpp.
#include "pg/types/id_type.hpp"

namespace snowflake_ids {

using sno::Id;

ORDER_FUNCTIONS(sno)
BYTE_FUNCTIONS(sno)

// The input functions of text and of bytes return NULL only after a soft error.
FUNCTION(snowflake_ids_sno_in) {
    Id id;
    if (!id_from_text<sno::Type>(fcinfo, id)) PG_RETURN_NULL();
    return id_datum(id);
}

FUNCTION(snowflake_ids_sno_recv) {
    Id id;
    if (!id_from_message<sno::Type>(fcinfo, id)) PG_RETURN_NULL();
    return id_datum(id);
}

// Casts to and from uuid. As the sno document says, the 16 bytes of the uuid are the 16 characters of the text of the
// sno, and not its 10 bytes. Such uuids have the order of the snos.
FUNCTION(snowflake_ids_sno_to_uuid) {
    static_assert(sno::text_size == UUID_LEN);
    pg_uuid_t* uuid = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
    sno::print(id_argument<Id>(fcinfo, 0), reinterpret_cast<char*>(uuid->data));
    PG_RETURN_UUID_P(uuid);
}

// Raises an error if the bytes of the uuid are not the text of a sno.
FUNCTION(snowflake_ids_sno_from_uuid) {
    return id_from_uuid<sno::Type>(fcinfo, Source::uuid, [](const unsigned char* bytes) {
        return sno::parse(reinterpret_cast<const char*>(bytes), UUID_LEN);
    });
}

}  // namespace snowflake_ids
