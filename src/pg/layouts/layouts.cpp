// Looks layouts up in the table of this database and among the built-in ones.
#include "pg/layouts/layouts.hpp"

#include <cstring>
#include <new>

extern "C" {
#include "access/table.h"
#include "utils/inval.h"
#include "utils/memutils.h"
}

#include "core/known_layouts.hpp"
#include "pg/layouts/layout_table.hpp"

namespace snowflake_ids::layouts {

namespace {

// The last one that was added comes first. Entries never move and are never removed, because callers keep references to
// them. Most sessions use one or two layouts, and a search compares the names of all.
NamedLayout* cache = nullptr;

// InvalidOid means any relation. CacheInvalidateRelcache() in layout_commands.cpp causes this call for a changed row.
void relation_changed(Datum, Oid relation) {
    if (relation != InvalidOid && relation != relation_oid) return;
    for (NamedLayout* named = cache; named != nullptr; named = named->next) named->valid = false;
}

}  // namespace

void fail_unknown(const char* name) {
    ereport(
        ERROR,
        (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("layout \"%s\" does not exist", name),
         errhint(
             "The view snowflake_ids.layouts lists the layouts of this database. Create one with snowflake_layout_create().")));
}

void look_up(NamedLayout& named, bool keep_lock) {
    named.valid = false;
    named.ready = nullptr;
    Relation rel = open_relation(AccessShareLock);
    named.created = find_row(rel, named.name, [&](HeapTuple row) { named.layout = layout_of_row(rel, row); });
    table_close(rel, keep_lock ? NoLock : AccessShareLock);
    named.generates = true;
    // A created layout must not change if a later version has a built-in one of the same name.
    if (!named.created) {
        const KnownLayout* known = known_layout(named.name, std::strlen(named.name));
        if (known == nullptr) fail_unknown(named.name);
        named.layout = known->layout;
        named.generates = known->generates;
    }
    named.valid = true;
}

NamedLayout& argument(FunctionCallInfo fcinfo, int n) {
    const text* given = PG_GETARG_TEXT_PP(n);
    const char* name = VARDATA_ANY(given);
    const std::size_t length = VARSIZE_ANY_EXHDR(given);
    for (NamedLayout* named = cache; named != nullptr; named = named->next) {
        if (std::strncmp(named->name, name, length) != 0 || named->name[length] != '\0') continue;
        if (unlikely(!named->valid)) look_up(*named, false);
        return *named;
    }
    if (length == 0 || length >= NAMEDATALEN || std::memchr(name, 0, length) != nullptr)
        fail_unknown(text_to_cstring(given));
    NamedLayout wanted{};
    wanted.next = cache;
    std::memcpy(wanted.name, name, length);
    // Names without a layout get no entry, so that they cannot fill the cache.
    look_up(wanted, false);
    cache = new (MemoryContextAlloc(TopMemoryContext, sizeof wanted)) NamedLayout(wanted);
    if (cache->next == nullptr) CacheRegisterRelcacheCallback(relation_changed, Datum{0});
    return *cache;
}

}  // namespace snowflake_ids::layouts
