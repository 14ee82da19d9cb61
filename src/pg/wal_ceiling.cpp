#include "pg/wal_ceiling.hpp"

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

Ceiling ceiling(const Content& c) { return {c.last_value, static_cast<uint64>(c.log_cnt)}; }
Content content(const Ceiling& c) { return {c.until_us, static_cast<int64>(c.life_id)}; }

}  // namespace

void watch(void (*forget)()) {
    if (forget_ceiling == nullptr) CacheRegisterRelcacheCallback(relation_changed, Datum{0});
    forget_ceiling = forget;
}

Ceiling read() { return ceiling(wal_sequence::read(place)); }

Ceiling raise(const Ceiling& wanted) {
    const auto higher = [](const Content& now, const Content& wanted) {
        return Content{Max(now.last_value, wanted.last_value), wanted.log_cnt};
    };
    return ceiling(wal_sequence::update(place, higher, content(wanted)));
}

void set(const Ceiling& c) { wal_sequence::set(place, content(c)); }

}  // namespace snowflake_ids::wal_ceiling
