#include "pg/wal_ceiling.hpp"

#include "ledger/reset.hpp"
#include "pg/shared_ledger.hpp"
#include "pg/wal_sequence.hpp"

extern "C" {
#include "utils/inval.h"
}

namespace snowflake_ids::wal_ceiling {

namespace {

using wal_sequence::Content;

wal_sequence::Place place{"snowflake_ids_ceiling", "It keeps ids unique across failover and recovery."};

void (*forget_ceiling)() = nullptr;

void relation_changed(Datum, Oid relation) {
    if (relation == InvalidOid || relation == place.oid) forget_ceiling();
}

Content higher(const Content& now, const Content& wanted) {
    return {Max(now.last_value, wanted.last_value), wanted.log_cnt};
}

Ceiling ceiling(const Content& c) { return {c.last_value, static_cast<uint64>(c.log_cnt)}; }
Content content(const Ceiling& c) { return {c.until_us, static_cast<int64>(c.life_id)}; }

}  // namespace

void watch(void (*forget)()) {
    if (forget_ceiling == nullptr) CacheRegisterRelcacheCallback(relation_changed, Datum{0});
    forget_ceiling = forget;
}

Ceiling read() { return ceiling(wal_sequence::read(place)); }

Ceiling raise(const Ceiling& wanted) {
    const auto unless_new = [](const Content& now, const Content& wanted) {
        return now.last_value == 0 ? now : higher(now, wanted);
    };
    Content c = wal_sequence::update(place, unless_new, content(wanted));
    // The extension was dropped and made again: ids that the old relation covered are still there.
    if (c.last_value == 0) {
        const auto highest_us = static_cast<int64>(ledger::highest_ceiling_ms(shared_ledger())) * 1000;
        c = wal_sequence::update(place, higher, content({Max(wanted.until_us, highest_us), wanted.life_id}));
    }
    return ceiling(c);
}

Ceiling set(const Ceiling& c) { return ceiling(wal_sequence::set(place, content(c))); }

}  // namespace snowflake_ids::wal_ceiling
