// Sets generators up: finds their slot, and takes their rules from the settings. This is repeated when a setting or the
// ledger's revision has changed (is_stale() in generator.hpp).
#pragma once

#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/snowflake_si.hpp"
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// This session's generators of the server's own node, which the settings give. own_sno_at is that of gen_sno_at(), for
// snos with a time that the caller gives (sno_generate.cpp). Get them by the functions ready_…() below.
extern Generator own_sno, own_sno_at, own_mastic, own_snowflake_si;

// These set up `g` as a generator of the server's own node. They raise an error if no id may be generated, if the bounds of the sequence are too close, if there is no slot for it, or if a ceiling cannot
// be read or written within max_wait.
void set_up_sno(Generator& g);
void set_up_sno_at(Generator& g);
// This sets up a generator of any 64-bit layout, which `name` names in messages. `owner` is the database that has
// created the layout, or built_in. It raises an error for the same reasons, except for the bounds.
inline constexpr Oid built_in = InvalidOid;
void set_up_snowflake(Generator& g, const char* name, const Layout& layout, Oid owner);

// The sno generator of a partition, 0 to 65535, that the caller of a SQL function names. It is set up. The reference is
// valid until the next call, which may give the generator another partition. Raises an error in recovery, and otherwise
// the same errors as set_up_sno().
Generator& sno_of_partition(uint32 partition);

// True if a session of this server has used a sno generator of that partition, so that it has a slot.
bool has_sno_generator(uint32 partition);

// Each function ready_…() returns this session's generator of a format, for the server's own node. ready_sno_at()
// returns that of gen_sno_at(). If a setting or the ledger's revision has changed, the function first sets the
// generator up again. This may wait, or raise an error.
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
