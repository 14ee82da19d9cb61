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

// How others may write into the same tables; null: not as far as the server knows.
const char* other_writers() {
    if (has_citus()) return "is part of a Citus cluster";
    return has_subscription() ? "has subscriptions" : nullptr;
}

// Bits of Header::warnings.
constexpr uint64 not_set = 1;
constexpr uint64 no_node = 2;

bool is_first(uint64 warning) { return (shared_ledger().header->warnings.fetch_or(warning) & warning) == 0; }

}  // namespace

uint32 of_server(unsigned node_bits) {
    return automatic_machine_id::effective(settings::machine_id, GetSystemIdentifier(), node_bits);
}

const char* source() {
    if (settings::machine_id < 0) return "automatic";
    return GucSource_Names[find_option("snowflake_ids.machine_id", false, false, ERROR)->source];
}

void warn_if_not_set() {
    if (settings::machine_id >= 0) return;
    const char* why = other_writers();
    if (why == nullptr && XLogLogicalInfoActive()) why = "may use logical replication";
    if (why == nullptr || !is_first(not_set)) return;
    ereport(
        WARNING,
        (errmsg("snowflake_ids.machine_id is not set, and this server %s", why),
         errdetail(
             "Copies of this server share its automatic machine id. In ids with fewer than 16 node bits, such as Snowflake-SI, this machine id is 0 on every server."),
         errhint("In postgresql.conf, set snowflake_ids.machine_id to a different number on each server.")));
}

void warn_of_no_node(const char* name) {
    const char* why = other_writers();
    if (why == nullptr || !is_first(no_node)) return;
    ereport(
        WARNING,
        (errmsg("%s ids have no machine id, and this server %s", name, why),
         errdetail("Two servers that both generate them generate equal ids."),
         errhint(
             "Generate them on one server only, or use gen_sno() or gen_snowflake_si() with a different snowflake_ids.machine_id on each server.")));
}

}  // namespace snowflake_ids::machine_id
