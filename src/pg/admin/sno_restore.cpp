// snowflake_ids.sno_snapshot() and sno_restore(): write and read the GeneratorSnapshot of the sno library, with its
// JSON keys.
#include "core/sno_snapshot.hpp"

#include "ledger/formats.hpp"
#include "pg/admin/operate.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/generate/set_up.hpp"
#include "pg/pg.hpp"
#include "pg/server/shared_ledger.hpp"

extern "C" {
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
}

namespace snowflake_ids {

namespace {

[[noreturn]] void fail_snapshot(const char* key, const char* detail) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid sno snapshot: \"%s\"", key),
                    errdetail("%s", detail)));
}

int64 whole_number(const JsonbValue* v, const char* key, int64 max) {
    const char* const text = v != nullptr && v->type == jbvNumeric ? numeric_normalize(v->val.numeric) : "";
    char* end;
    errno = 0;
    const auto number = static_cast<int64>(strtoll(text, &end, 10));
    if (*text != '\0' && *end == '\0' && errno == 0 && number >= 0 && number <= max) return number;
    fail_snapshot(key, psprintf("The value must be a whole number from 0 to " INT64_FORMAT ".", max));
}

// A missing key is an error, because snapshots of the library have all.
const JsonbValue* value_of(Jsonb* object, const char* key) {
    const JsonbValue* v = getKeyJsonValueFromContainer(&object->root, key, static_cast<int>(strlen(key)), nullptr);
    if (v == nullptr) fail_snapshot(key, "The key is missing.");
    return v;
}

int64 number_of(Jsonb* object, const char* key, int64 max) { return whole_number(value_of(object, key), key, max); }

uint32 partition_of(Jsonb* object) {
    const JsonbValue* v = value_of(object, "partition");
    if (v->type != jbvBinary || !JsonContainerIsArray(v->val.binary.data) ||
        JsonContainerSize(v->val.binary.data) != 2) {
        fail_snapshot("partition", "The value must be an array of two numbers from 0 to 255.");
    }
    const int64 high = whole_number(getIthJsonbValueFromContainer(v->val.binary.data, 0), "partition", 255);
    const int64 low = whole_number(getIthJsonbValueFromContainer(v->val.binary.data, 1), "partition", 255);
    return static_cast<uint32>(high << 8 | low);
}

}  // namespace

// snowflake_ids.sno_snapshot(partition); null: the partition that the settings give. The result is null if this server
// has generated no id in the partition.
FUNCTION(snowflake_ids_sno_snapshot) {
    Generator& own = generator::ready_sno();
    const uint32 partition =
        PG_ARGISNULL(0) ? own.node : number_argument(fcinfo, 0, "partition", Error::node_range, 65535);
    const ledger::Slot* slot =
        ledger::find_slot(shared_ledger(), {ledger::Format::sno, static_cast<uint16>(partition), 0}, false);
    if (slot == nullptr) PG_RETURN_NULL();

    const State state = ledger::unpack(slot->word.load(), slot->safe.load(), true);
    const sno::Bounds bounds{own.rules.min, own.rules.max};
    const sno::Snapshot s =
        sno::to_snapshot({partition, bounds, state}, ledger::clamped_tick(sno::timeline, ledger::wall_clock()));
    char* json =
        psprintf("{\"partition\":[%u,%u],\"sequenceMin\":%u,\"sequenceMax\":%u,\"sequence\":%u,\"now\":" UINT64_FORMAT
                 ",\"wallHi\":" UINT64_FORMAT ",\"wallSafe\":" UINT64_FORMAT ",\"drifts\":%u}",
                 s.partition >> 8, s.partition & 255, s.sequence_min, s.sequence_max, s.sequence, s.now, s.wall_hi,
                 s.wall_safe, s.drifts);
    PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
}

// snowflake_ids.sno_restore(snapshot) moves the partition's generator past the times of the snapshot. The other values
// are only checked, because the bounds come from the settings.
FUNCTION(snowflake_ids_sno_restore) {
    check_not_null(fcinfo, {"snapshot"});
    Jsonb* object = PG_GETARG_JSONB_P(0);
    if (!JB_ROOT_IS_OBJECT(object)) fail_snapshot("snapshot", "The snapshot must be a JSON object.");
    const auto max_units = static_cast<int64>(sno::timeline.max_tick());
    sno::Snapshot s;
    s.partition = partition_of(object);
    s.sequence_min = static_cast<uint32>(number_of(object, "sequenceMin", sno::max_sequence));
    s.sequence_max = static_cast<uint32>(number_of(object, "sequenceMax", sno::max_sequence));
    s.sequence = static_cast<uint32>(number_of(object, "sequence", sno::max_sequence));
    s.wall_hi = static_cast<uint64>(number_of(object, "wallHi", max_units));
    s.wall_safe = static_cast<uint64>(number_of(object, "wallSafe", max_units));
    s.drifts = static_cast<uint32>(number_of(object, "drifts", PG_UINT32_MAX));

    const Result<sno::PartitionState> restored = sno::from_snapshot(s);
    if (!restored) {
        ereport(
            ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid sno snapshot: bounds"),
             errdetail("sequenceMin is %u, sequenceMax is %u, sequence is %u.", s.sequence_min, s.sequence_max,
                       s.sequence),
             errhint(
                 "The range from sequenceMin to sequenceMax must contain at least %u numbers, and sequence must be at least sequenceMin.",
                 sno::least_numbers)));
    }
    const uint64 tick = Max(s.wall_hi, s.wall_safe);
    if (!superuser()) check_not_far_ahead(sno::timeline.start(tick), "sno snapshot");
    Generator& own = generator::ready_sno();
    Generator& g = s.partition == own.node ? own : generator::sno_of_partition(s.partition);
    lift_past(g, tick);
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
