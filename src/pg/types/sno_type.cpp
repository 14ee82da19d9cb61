// The type sno: input, output, hash and casts. Order and sorting are in id_type.hpp.
#include "pg/types/id_type.hpp"

extern "C" {
#include "common/hashfn.h"
}

namespace snowflake_ids {

using sno::Id;

ID_FUNCTIONS(sno)

FUNCTION(snowflake_ids_sno_in) { return id_from_text<sno::parse>(fcinfo, "sno"); }
FUNCTION(snowflake_ids_sno_out) { return id_to_text<Id, sno::text_size>(fcinfo); }
FUNCTION(snowflake_ids_sno_recv) { return id_from_message<sno::from_bytes>(fcinfo, "sno"); }
FUNCTION(snowflake_ids_sno_send) { return bytea_datum(id_argument<Id>(fcinfo, 0).bytes, sno::binary_size); }
FUNCTION(snowflake_ids_sno_from_bytea) { return id_from_bytea<sno::from_bytes>(fcinfo, "sno"); }

FUNCTION(snowflake_ids_sno_hash) { return hash_any(id_argument<Id>(fcinfo, 0).bytes, sno::binary_size); }
FUNCTION(snowflake_ids_sno_hash_extended) {
    return hash_any_extended(id_argument<Id>(fcinfo, 0).bytes, sno::binary_size,
                             static_cast<uint64>(PG_GETARG_INT64(1)));
}

}  // namespace snowflake_ids
