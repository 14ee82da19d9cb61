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

// With `keep_lock`, the table stays locked until the end of the transaction.
bool load_created(NamedLayout& named, bool keep_lock) {
    Relation rel = open_relation(AccessShareLock);
    Layout layout{};
    const bool found = find_row(rel, named.name, [&](HeapTuple row) { layout = layout_of_row(rel, row); });
    table_close(rel, keep_lock ? NoLock : AccessShareLock);
    if (!found) return false;
    named.layout = layout;
    named.created = named.generates = named.valid = true;
    return true;
}

bool load_layout(NamedLayout& named, bool keep_lock) {
    named.looked_up++;
    // A created layout must not change if a later version has a built-in one of the same name.
    if (load_created(named, keep_lock)) return true;
    const KnownLayout* known = known_layout(named.name, std::strlen(named.name));
    if (known == nullptr) return false;
    named.layout = known->layout;
    named.generates = known->generates;
    named.created = false;
    named.valid = true;
    return true;
}

}  // namespace

void fail_unknown(const char* name) {
    ereport(
        ERROR,
        (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("layout \"%s\" does not exist", name),
         errhint(
             "The view snowflake_ids.layouts lists the layouts of this database. Create one with snowflake_layout_create().")));
}

NamedLayout* find(const char* name, std::size_t length) {
    if (likely(last != nullptr && last->valid && std::strncmp(last->name, name, length) == 0 &&
               last->name[length] == '\0'))
        return last;
    if (length == 0 || length >= NAMEDATALEN || std::memchr(name, 0, length) != nullptr) return nullptr;
    if (cache == nullptr) make_cache();
    NamedLayout wanted{};
    std::memcpy(wanted.name, name, length);
    wanted.name[length] = '\0';
    auto* named = static_cast<NamedLayout*>(hash_search(cache, wanted.name, HASH_FIND, nullptr));
    if (named == nullptr || !named->valid) {
        // Names without a layout get no entry, so that they cannot fill the cache.
        if (named == nullptr) {
            if (!load_layout(wanted, false)) return nullptr;
            named = static_cast<NamedLayout*>(hash_search(cache, wanted.name, HASH_ENTER, nullptr));
            *named = wanted;
        } else if (!load_layout(*named, false)) {
            return nullptr;
        }
    }
    last = named;
    return named;
}

NamedLayout& argument(FunctionCallInfo fcinfo, int n) {
    const text* name = PG_GETARG_TEXT_PP(n);
    NamedLayout* named = find(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
    if (unlikely(named == nullptr)) fail_unknown(text_to_cstring(name));
    return *named;
}

// If the look-up raises an error, the entry stays invalid.
void pin(NamedLayout& named) {
    named.valid = false;
    if (!load_layout(named, true)) fail_unknown(named.name);
}

}  // namespace snowflake_ids::layouts
