// A setting was not accepted if its source (file, role, session, ...) changes when it is defined.
#include "pg/server/refused_settings.hpp"

#include <bit>

extern "C" {
#include "lib/stringinfo.h"
#include "utils/guc.h"
}

namespace snowflake_ids::refused_settings {

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

void note_if_not_accepted(Setting s) {
    if (placeholders[s].was_given && find_setting(known[s].name)->source != placeholders[s].source)
        not_accepted_bits |= bit_of(s);
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

void fail_if_any() {
    if (likely(not_accepted_bits == 0)) return;
    const int s = std::countr_zero(static_cast<uint32>(not_accepted_bits));
    const Placeholder& p = placeholders[s];
    if (p.source <= PGC_S_ARGV) {
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("value of parameter \"%s\" was not accepted: \"%s\"", known[s].name, p.text),
             errdetail("It must be %s. Ids that are generated with the default could equal ids of another server.",
                       known[s].must_be),
             errhint(
                 "Correct it in postgresql.conf or with ALTER SYSTEM, reload the configuration, and connect again.")));
    }
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("value of parameter \"%s\" was not accepted: \"%s\"", known[s].name, p.text),
         errdetail("Its source is \"%s\". Only a value for the whole server is used.", GucSource_Names[p.source]),
         errhint(
             "In a new session, remove it there, as with ALTER ROLE ... RESET %s, and connect again. If it is needed, set it in postgresql.conf.",
             known[s].name)));
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

}  // namespace snowflake_ids::refused_settings
