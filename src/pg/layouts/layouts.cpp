// Looks layouts up in the table of this database and among the built-in ones.
#include "pg/layouts/layouts.hpp"

#include <cstring>

extern "C" {
#include "access/table.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
}

#include "core/known_layouts.hpp"
#include "pg/layouts/layout_table.hpp"

namespace snowflake_ids::layouts {

namespace {

HTAB* cache = nullptr;
NamedLayout* last = nullptr;  // usually the next one is the same

// InvalidOid means any relation. CacheInvalidateRelcache() in layout_changes.cpp causes this call for a changed row.
void relation_changed(Datum, Oid relation) {
    if (relation != InvalidOid && !is_layout_table(relation)) return;
    HASH_SEQ_STATUS all;
    hash_seq_init(&all, cache);
    while (auto* named = static_cast<NamedLayout*>(hash_seq_search(&all))) named->valid = false;
}

void make_cache() {
    HASHCTL control = {};
    control.keysize = NAMEDATALEN;
    control.entrysize = sizeof(NamedLayout);
    control.hcxt = TopMemoryContext;
    // Entries never move and are never removed, because callers keep references to them.
    cache = hash_create("snowflake_ids layouts", 16, &control, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
    CacheRegisterRelcacheCallback(relation_changed, Datum{0});
}

// Raises an error if there is none, and `named` stays invalid. With `keep_lock`, the table stays locked until the end
// of the transaction.
void look_up(NamedLayout& named, bool keep_lock) {
    named.looked_up++;
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

}  // namespace

void fail_unknown(const char* name) {
    ereport(
        ERROR,
        (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("layout \"%s\" does not exist", name),
         errhint(
             "The view snowflake_ids.layouts lists the layouts of this database. Create one with snowflake_layout_create().")));
}

NamedLayout& argument(FunctionCallInfo fcinfo, int n) {
    const text* given = PG_GETARG_TEXT_PP(n);
    const char* name = VARDATA_ANY(given);
    const std::size_t length = VARSIZE_ANY_EXHDR(given);
    if (likely(last != nullptr && last->valid && std::strncmp(last->name, name, length) == 0 &&
               last->name[length] == '\0'))
        return *last;
    if (length == 0 || length >= NAMEDATALEN || std::memchr(name, 0, length) != nullptr)
        fail_unknown(text_to_cstring(given));
    if (cache == nullptr) make_cache();
    NamedLayout wanted{};
    std::memcpy(wanted.name, name, length);
    auto* named = static_cast<NamedLayout*>(hash_search(cache, wanted.name, HASH_FIND, nullptr));
    if (named == nullptr) {
        // Names without a layout get no entry, so that they cannot fill the cache.
        look_up(wanted, false);
        named = static_cast<NamedLayout*>(hash_search(cache, wanted.name, HASH_ENTER, nullptr));
        *named = wanted;
    } else if (!named->valid) {
        look_up(*named, false);
    }
    last = named;
    return *named;
}

void pin(NamedLayout& named) {
    named.valid = false;
    look_up(named, true);
}

}  // namespace snowflake_ids::layouts
