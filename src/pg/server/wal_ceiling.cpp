// The ceiling of this database, in a sequence's page.
#include "pg/server/wal_ceiling.hpp"

#include "ledger/reset.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/wal_sequence.hpp"

extern "C" {
#include "utils/inval.h"
}

namespace snowflake_ids::wal_ceiling {

namespace {

using wal_sequence::Content;

wal_sequence::Place place{"wal_ceiling", "It keeps ids unique across failover and recovery.", ledger::ceiling_seal};

void (*forget_ceiling)() = nullptr;

void relation_changed(Datum, Oid relation) {
    if (relation == InvalidOid || relation == place.oid) forget_ceiling();
}

Content higher(const Content& now, const Content& wanted) { return {Max(now.number, wanted.number), wanted.log_cnt}; }

Content unless_new(const Content& now, const Content& wanted) { return now.number == 0 ? now : higher(now, wanted); }

Ceiling ceiling(const Content& c) { return {static_cast<int64>(c.number) * 1000, static_cast<uint64>(c.log_cnt)}; }
// Rounded up, so the ceiling is never below the wanted time.
Content content(const Ceiling& c) {
    const auto us = static_cast<uint64>(Max(c.until_us, int64{0}));
    return {Min((us + 999) / 1000, place.seal.most()), static_cast<int64>(c.life_id)};
}

}  // namespace

void watch(void (*forget)()) {
    if (forget_ceiling == nullptr) CacheRegisterRelcacheCallback(relation_changed, Datum{0});
    forget_ceiling = forget;
}

Ceiling read(const Patience& patience) { return ceiling(wal_sequence::read(place, patience)); }

Ceiling raise(const Ceiling& wanted, const Patience& patience) {
    Content c = wal_sequence::update(place, unless_new, content(wanted), patience);
    // 0: the relation is new. The extension was dropped and created again, but the ids that the old relation covered
    // still exist.
    if (c.number == 0) {
        const auto highest_us = static_cast<int64>(ledger::highest_ceiling_ms(shared_ledger())) * 1000;
        c = wal_sequence::update(place, higher, content({Max(wanted.until_us, highest_us), wanted.life_id}), patience);
    }
    return ceiling(c);
}

int64 raise_if_free(int64 soon_us, const Ceiling& wanted) {
    Content c;
    const auto enough_ms = static_cast<uint64>(Max(soon_us, int64{0}) / 1000);
    return wal_sequence::update_if_free(place, unless_new, content(wanted), enough_ms, c) ? ceiling(c).until_us : 0;
}

Ceiling set(const Ceiling& c, const Patience& patience) {
    return ceiling(wal_sequence::set(place, content(c), patience));
}

bool is_damaged(const Patience& patience) { return wal_sequence::is_damaged(place, patience); }

void repair(const Ceiling& c, const Patience& patience) { wal_sequence::repair(place, content(c), patience); }

}  // namespace snowflake_ids::wal_ceiling
