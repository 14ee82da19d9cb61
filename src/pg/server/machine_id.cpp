// The node for new ids, and the warnings about it.
#include "pg/server/machine_id.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_subscription.h"
#include "commands/extension.h"
#include "utils/guc.h"
}

#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::machine_id {

namespace {

bool has_subscription() {
    Relation rel = table_open(SubscriptionRelationId, AccessShareLock);
    SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, nullptr, 0, nullptr);
    const bool found = HeapTupleIsValid(systable_getnext(scan));
    systable_endscan(scan);
    table_close(rel, AccessShareLock);
    return found;
}

// In a Citus cluster, a DEFAULT may be evaluated on any server. Citus works only if preloaded, so without its setting
// the catalog is not searched.
bool has_citus() {
    return GetConfigOption("citus.enable_ddl_propagation", true, false) != nullptr &&
           OidIsValid(get_extension_oid("citus", true));
}

// What lets other servers write into the same tables, after "this server"; null: nothing known.
const char* other_writers() {
    if (has_citus()) return "is part of a Citus cluster";
    return has_subscription() ? "has subscriptions" : nullptr;
}

}  // namespace

uint32 of_server(unsigned node_bits) {
    return automatic_machine_id::effective(settings::machine_id, GetSystemIdentifier(), node_bits);
}

const char* source() {
    if (settings::machine_id < 0) return "automatic";
    return GucSource_Names[find_option("snowflake_ids.machine_id", false, false, ERROR)->source];
}

void warn_if_shared(const char* nodeless_format) {
    const bool has_node = nodeless_format == nullptr;
    if (has_node && settings::machine_id >= 0) return;
    const char* why = other_writers();
    if (why == nullptr && has_node && XLogLogicalInfoActive()) why = "may use logical replication";
    const uint64 warning = has_node ? 1 : 2;  // a bit of Header::warnings
    if (why == nullptr || (shared_ledger().header->warnings.fetch_or(warning) & warning) != 0) return;
    if (has_node) {
        ereport(
            WARNING,
            (errmsg("snowflake_ids.machine_id is not set, and this server %s", why),
             errdetail(
                 "Copies of this server share its automatic machine id. In ids with fewer than 16 node bits, such as Snowflake-SI, this machine id is 0 on every server."),
             errhint("In postgresql.conf, set snowflake_ids.machine_id to a different number on each server.")));
    } else {
        ereport(
            WARNING,
            (errmsg("%s ids have no machine id, and this server %s", nodeless_format, why),
             errdetail("Two servers that both generate them generate equal ids."),
             errhint(
                 "Generate them on one server only, or use gen_sno() or gen_snowflake_si() with a different snowflake_ids.machine_id on each server.")));
    }
}

}  // namespace snowflake_ids::machine_id
