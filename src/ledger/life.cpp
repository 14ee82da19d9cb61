// Begins a life of the server.
#include "ledger/life.hpp"

#include "ledger/clock.hpp"

namespace snowflake_ids::ledger {

CeilingResult begin_life(const CeilingPlace& place, const Ledger& ledger, std::uint64_t id, Floor at_least,
                         bool& began) {
    began = false;
    LockedCeilings file(place);
    CeilingResult r = file.open();
    if (r.error != CeilingError::none || has_begun(*ledger.header)) return r;
    const UnixTime now = wall_clock();
    ledger.header->life_began.store(now);
    ledger.header->lead.store(lead_of(at_least, now));
    const auto second = now > UnixTime{} ? static_cast<std::uint64_t>(number_of(std::chrono::floor<seconds>(now))) : 0;
    r = begin_locked_life(*ledger.header, slot_count, slot_at(ledger), lift_and_begin, file, id, at_least, second);
    began = r.error == CeilingError::none;
    return r;
}

}  // namespace snowflake_ids::ledger
