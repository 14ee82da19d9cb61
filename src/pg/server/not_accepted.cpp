// A setting was not accepted if its source (file, role, session, ...) changes when it is defined.
#include "pg/server/not_accepted.hpp"

#include <bit>

extern "C" {
#include "lib/stringinfo.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
}

namespace snowflake_ids::not_accepted {

namespace {

int not_accepted_bits = 0;  // bit n: setting n

int bit_of(Setting s) { return 1 << s; }

// In the order of the enum Setting.
struct Known {
    const char* name;
    const char* must_be;
};

constexpr Known known[count] = {
    {"snowflake_ids.machine_id", "a whole number from -1 to 65535"},
    {"snowflake_ids.standby_machine_id", "a whole number from -1 to 65535"},
    {"snowflake_ids.sno_sequence_min", "a whole number from 0 to 65535"},
    {"snowflake_ids.sno_sequence_max", "a whole number from 0 to 65535"},
    {"snowflake_ids.clock_regression", "hold, wait or error"},
    {"snowflake_ids.durable_window", "a time from 100ms to 1h"},
};

// What was configured for a setting before it was defined.
struct Placeholder {
    bool was_given;
    GucSource source;
    char text[64];  // maybe cut; only for messages
};

Placeholder placeholders[count];

config_generic* find_setting(const char* name) { return find_option(name, false, true, DEBUG5); }

void remember_placeholder(Setting s) {
    Placeholder& p = placeholders[s];
    const config_generic* found = find_setting(known[s].name);
    p.was_given = found != nullptr && found->source != PGC_S_DEFAULT;
    if (!p.was_given) return;
    p.source = found->source;
    const char* text = GetConfigOption(known[s].name, true, false);
    strlcpy(p.text, text != nullptr ? text : "", sizeof p.text);
}

bool is_for_whole_server(GucSource source) { return source <= PGC_S_ARGV; }

void note_if_not_accepted(Setting s) {
    if (placeholders[s].was_given && find_setting(known[s].name)->source != placeholders[s].source)
        not_accepted_bits |= bit_of(s);
}

// Where a value was set, if not for the whole server, and the command that removes it.
struct Origin {
    GucSource source;
    const char* name;
    const char* reset;  // null: the next connection does not have the value by itself
};

constexpr Origin origins[] = {
    {PGC_S_GLOBAL, "all roles", "ALTER ROLE ALL RESET"},
    {PGC_S_DATABASE, "this database", "ALTER DATABASE ... RESET"},
    {PGC_S_USER, "this role", "ALTER ROLE ... RESET"},
    {PGC_S_DATABASE_USER, "this role in this database", "ALTER ROLE ... IN DATABASE ... RESET"},
    {PGC_S_CLIENT, "this connection", nullptr}};

Origin origin_of(GucSource source) {
    for (const Origin& o : origins)
        if (o.source == source) return o;
    return {source, "this session, before the library was loaded", nullptr};
}

// "In a new session", because one that has loaded the library refuses the command.
int errhint_reset(const char* setting, const char* reset) {
    if (reset == nullptr)
        return errhint("Connect again without setting it. If it is needed, set it in postgresql.conf.");
    return errhint("Run %s %s in a new session, and connect again. If it is needed, set it in postgresql.conf.", reset,
                   setting);
}

}  // namespace

// Defining a setting removes its placeholder, so it is remembered before. Before the minor releases of late 2024, a
// server takes no value for a setting that is defined in a parallel operation, so the session generates no ids.
void define_settings(void (*define)()) {
    for (int s = 0; s < count; s++) remember_placeholder(static_cast<Setting>(s));
    define();
    MarkGUCPrefixReserved("snowflake_ids");
    for (int s = 0; s < count; s++) note_if_not_accepted(static_cast<Setting>(s));
}

void accept(Setting s) { not_accepted_bits &= ~bit_of(s); }

bool is_refused(Setting s) { return (not_accepted_bits & bit_of(s)) != 0; }

void check() {
    if (likely(not_accepted_bits == 0)) return;
    const int s = std::countr_zero(static_cast<uint32>(not_accepted_bits));
    const Placeholder& p = placeholders[s];
    const bool misplaced = !is_for_whole_server(p.source);
    const Origin where = origin_of(p.source);
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("value of parameter \"%s\" was not accepted: \"%s\"", known[s].name, p.text),
         misplaced
             ? errdetail("It was set for %s. Only a value for the whole server is used.", where.name)
             : errdetail("It must be %s. Ids that are generated with the default could equal ids of another server.",
                         known[s].must_be),
         misplaced
             ? errhint_reset(known[s].name, where.reset)
             : errhint(
                   "Correct it in postgresql.conf or with ALTER SYSTEM, reload the configuration, and connect again.")));
}

char* describe() {
    if (not_accepted_bits == 0) return nullptr;
    StringInfoData list;
    initStringInfo(&list);
    for (int s = 0; s < count; s++) {
        if (!is_refused(static_cast<Setting>(s))) continue;
        appendStringInfo(&list, "%s%s = %s", list.len > 0 ? ", " : "", strchr(known[s].name, '.') + 1,
                         placeholders[s].text);
    }
    return list.data;
}

}  // namespace snowflake_ids::not_accepted
