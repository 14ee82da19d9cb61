// Finds or creates the slot of a generator, and limits how many slots explicit calls may create.
#include "pg/generate/slot_of.hpp"

#include "pg/errors.hpp"

namespace snowflake_ids::generator {

namespace {

// How many slots explicit calls (see slot_of.hpp) may create: in one database, and in all databases together. The other
// slots are kept for generators that the settings give. So nobody can use up all slots, even with many databases.
constexpr uint32 max_owned_slots = 64;
constexpr uint32 max_all_owned_slots = ledger::slot_count - 64;

}  // namespace

ledger::Slot& find_or_create_slot(const ledger::Ledger& shared, const ledger::Key& key, uint64 numbering) {
    if (ledger::Slot* slot = ledger::find_slot(shared, key, false, numbering)) return *slot;
    if (key.owner != 0 && ledger::slots_owned(shared, key.owner) >= max_owned_slots) {
        ereport(ERROR,
                (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many explicit generators in this database"),
                 errdetail("Explicit sno partitions and created layouts of a database may have %u generators.",
                           max_owned_slots),
                 errhint("Use a partition or a layout with which ids were already generated.")));
    }
    if (key.owner != 0 && ledger::slots_owned(shared) >= max_all_owned_slots) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many explicit generators on this server"),
             errdetail("Explicit sno partitions and created layouts of all databases may have %u generators together.",
                       max_all_owned_slots),
             errhint("Use a partition or a layout with which ids were already generated.")));
    }
    ledger::Slot* slot = ledger::find_slot(shared, key, true, numbering);
    if (slot == nullptr) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("this server has no room for another generator"),
             errdetail(
                 "The server keeps a generator for each format, layout and machine id that it has used, and it has room for %u.",
                 ledger::slot_count),
             errhint(
                 "Use a machine id and a format that were used before. To make room, stop the server, move the file snowflake_ids.ceiling away, start the server, and generate an id in each database before clients connect.")));
    }
    return *slot;
}

}  // namespace snowflake_ids::generator
