// Sets generators up: finds their slot and takes their rules from the settings. That is repeated when a setting or the
// ledger's revision has changed.
#pragma once

#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/snowflake_si.hpp"
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// The generators of this server's own node, which the settings give. own_sno_at: for times that the caller gives, see
// sno_generate.cpp.
extern Generator own_sno, own_sno_at, own_mastic, own_snowflake_si;

// They raise an error if no id may be generated (may_generate.hpp).
void set_up_sno(Generator& g);
void set_up_sno_at(Generator& g);
// Any 64-bit layout. `owner`: the database that created it, or built_in.
inline constexpr Oid built_in = InvalidOid;
void set_up_snowflake(Generator& g, const char* name, const Layout& layout, Oid owner);

// The sno generator of an explicit partition, 0 to 65535, set up. It is valid until the next call, which may give it
// another partition. Raises an error in recovery, in a parallel worker, or if there is no slot for it.
Generator& sno_of_partition(uint32 partition);

// True if this server has a sno generator of that partition.
bool has_sno_generator(uint32 partition);

// ready_…(): this session's generator of the format, for the server's own node. It is set up again if a setting or the
// ledger's revision has changed; that may wait, or raise an error.
inline Generator& ready_sno() {
    if (unlikely(is_stale(own_sno))) set_up_sno(own_sno);
    return own_sno;
}

inline Generator& ready_sno_at() {
    if (unlikely(is_stale(own_sno_at))) set_up_sno_at(own_sno_at);
    return own_sno_at;
}

inline Generator& ready_mastic() {
    if (unlikely(is_stale(own_mastic))) set_up_snowflake(own_mastic, "Mastic", mastic::layout, built_in);
    return own_mastic;
}

inline Generator& ready_snowflake_si() {
    if (unlikely(is_stale(own_snowflake_si)))
        set_up_snowflake(own_snowflake_si, "Snowflake-SI", snowflake_si::layout, built_in);
    return own_snowflake_si;
}

}  // namespace snowflake_ids::generator
