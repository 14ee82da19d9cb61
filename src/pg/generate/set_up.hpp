// Sets generators up, at first and when is_stale(): finds their slot, and takes their rules from the settings. This may
// wait, up to max_wait. It raises an error if no id may be generated, or if there is no slot.
#pragma once

#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/snowflake_si.hpp"
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// This session's generators of the server's own node; own_sno_at belongs to gen_sno_at(). Get them by ready_…().
extern Generator own_sno, own_sno_at, own_mastic, own_snowflake_si;

// `partition`: one that a caller names, or own_partition.
inline constexpr int own_partition = -1;
void set_up_sno(Generator& g, ledger::Format format, int partition = own_partition);
// `name` is for messages. `owner` is the database that has created the layout, or built_in.
inline constexpr Oid built_in = InvalidOid;
void set_up_snowflake(Generator& g, const char* name, const Layout& layout, Oid owner);

// The generator, set up, of a partition (0 to 65535) that a caller names. Valid until the next call. Refused in
// recovery.
Generator& sno_of_partition(uint32 partition);

// True if any session of this server has generated ids of the partition.
bool is_partition_in_use(uint32 partition);

inline Generator& ready_sno() {
    if (unlikely(is_stale(own_sno))) set_up_sno(own_sno, ledger::Format::sno);
    return own_sno;
}

inline Generator& ready_sno_at() {
    if (unlikely(is_stale(own_sno_at))) set_up_sno(own_sno_at, ledger::Format::sno_at);
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
