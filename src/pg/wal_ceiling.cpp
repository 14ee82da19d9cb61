#include "pg/wal_ceiling.hpp"

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

// No id that this server issued has this time or a later one.
int64 highest_ceiling_us() {
    uint64 highest_ms = 0;
    for (uint32 i = 0; i < ledger::slot_count; i++)
        highest_ms = Max(highest_ms, shared_ledger().slots[i].ceiling.load());
    return static_cast<int64>(highest_ms) * 1000;
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
    if (c.last_value == 0)
        c = wal_sequence::update(place, higher,
                                 {Max(wanted.until_us, highest_ceiling_us()), static_cast<int64>(wanted.life_id)});
    return ceiling(c);
}

Ceiling set(const Ceiling& c) { return ceiling(wal_sequence::set(place, content(c))); }

}  // namespace snowflake_ids::wal_ceiling
