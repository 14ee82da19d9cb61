// Finds or creates the slot of a generator, and limits how many slots explicit calls may create.
#include "pg/generate/slot_of.hpp"

#include "pg/errors.hpp"

namespace snowflake_ids::generator {

namespace {

// How many slots explicit calls may create: in one database, and in all together. The last slots of the ledger are for
// generators that the settings give. So nobody can use them up by creating many databases.
constexpr uint32 max_owned_slots = 64;
constexpr uint32 max_all_owned_slots = ledger::slot_count - 64;

}  // namespace

ledger::Slot& find_or_create_slot(const ledger::Ledger& shared, const ledger::Key& key, uint64 numbering) {
    if (ledger::Slot* slot = ledger::find_slot(shared, key, false, numbering)) return *slot;
    if (key.owner != 0 && ledger::slots_owned(shared, key.owner) >= max_owned_slots) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many explicit generators in this database"),
             errdetail("Explicit sno partitions and created layouts may use %u slots of the ledger.", max_owned_slots),
             errhint("Use an existing partition or layout.")));
    }
    if (key.owner != 0 && ledger::slots_owned(shared) >= max_all_owned_slots) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many explicit generators on this server"),
             errdetail("Explicit sno partitions and created layouts of all databases may use %u slots of the ledger.",
                       max_all_owned_slots),
             errhint("Use an existing partition or layout.")));
    }
    ledger::Slot* slot = ledger::find_slot(shared, key, true, numbering);
    if (slot == nullptr) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
             errmsg("all %u slots of the ledger are in use", ledger::slot_count),
             errdetail("Each format, layout and machine id that this server ever used keeps one."),
             errhint(
                 "Use formats and machine ids that were used before. To get free slots, stop the server, move the ceiling file away and start the server again.")));
    }
    return *slot;
}

}  // namespace snowflake_ids::generator
