// Finds the settings whose configured value was not accepted, and refuses to draw while there are any. A value was not
// accepted if its source (file, role, session, ...) is another one after the setting is defined than before.
#include "pg/server/not_accepted.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/xact.h"
#include "lib/stringinfo.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
}

#include "pg/server/settings.hpp"

namespace snowflake_ids::not_accepted {

int mask = 0;

namespace {

struct Known {
    const char* name;
    const char* must_be;
};

constexpr Known known[count] = {
    {"machine_id", "a whole number from -1 to 65535"},
    {"standby_machine_id", "a whole number from -1 to 65535"},
    {"sno_sequence_min", "a whole number from 0 to 65535"},
    {"sno_sequence_max", "a whole number from 0 to 65535"},
    {"clock_regression", "hold, wait or error"},
    {"durable_window", "a time from 100ms to 1h"},
};

// The value of a placeholder. Static, because it may be needed as long as the session lasts.
struct Given {
    bool was_given;
    bool parallel;  // refused for this reason only
    GucSource source;
    char text[64];
};

Given given[count];

constexpr const char* mask_name = "snowflake_ids.not_accepted";

const char* full_name(Setting s) {
    static char name[64];
    snprintf(name, sizeof name, "snowflake_ids.%s", known[s].name);
    return name;
}

config_generic* find(const char* name) { return find_option(name, false, true, DEBUG5); }

void remember(Setting s) {
    Given& g = given[s];
    const config_generic* placeholder = find(full_name(s));
    g.was_given = placeholder != nullptr && placeholder->source != PGC_S_DEFAULT;
    if (!g.was_given) return;
    g.source = placeholder->source;
    const char* text = GetConfigOption(full_name(s), true, false);
    strlcpy(g.text, text != nullptr ? text : "", sizeof g.text);
}

// Set in postgresql.conf, by ALTER SYSTEM or on the command line.
bool for_the_server(GucSource source) { return source <= PGC_S_ARGV; }

void compare(Setting s) {
    Given& g = given[s];
    if (!g.was_given || find(full_name(s))->source == g.source) return;
    mask |= bit(s);
    g.parallel =
        for_the_server(g.source) && IsInParallelMode() &&
        set_config_option(full_name(s), g.text, PGC_SIGHUP, PGC_S_TEST, GUC_ACTION_SET, false, DEBUG5, false) != 0;
}

const char* where_set(GucSource source) {
    switch (source) {
        case PGC_S_GLOBAL:
            return "all roles";
        case PGC_S_DATABASE:
            return "this database";
        case PGC_S_USER:
            return "this role";
        case PGC_S_DATABASE_USER:
            return "this role in this database";
        case PGC_S_CLIENT:
            return "this connection";
        default:
            return "this session, before the library was loaded";
    }
}

void set_mask(int, void*) { settings::generation++; }

// Before the minor releases of late 2024, the server refuses to change any setting in a parallel operation, even with
// GUC_ALLOW_IN_PARALLEL. It would refuse the configured values here too. All processes of the operation have the same
// values, so we leave parallel mode while the settings are defined. A server with assertions would notice: there,
// draws are refused instead.
void define_in_parallel_operation(void (*define)()) {
    static int levels = 0;  // static: a longjmp would clobber a local variable
    while (levels < 8 && IsInParallelMode()) {
        ExitParallelMode();
        levels++;
    }
    // Interrupts wait: a cancel must not find the transaction outside of its parallel operation. An error resets the
    // counter.
    InterruptHoldoffCount = InterruptHoldoffCount + 1;
    PG_TRY();
    { define(); }
    PG_FINALLY();
    {
        for (; levels > 0; levels--) EnterParallelMode();
    }
    PG_END_TRY();
    InterruptHoldoffCount = InterruptHoldoffCount - 1;
}

void define_all(void (*define)()) {
#ifndef USE_ASSERT_CHECKING
    if (IsInParallelMode() && !settings_allowed_in_parallel()) return define_in_parallel_operation(define);
#endif
    define();
}

}  // namespace

void define_settings(void (*define)()) {
    for (int s = 0; s < count; s++) remember(static_cast<Setting>(s));
    define_all(define);
    MarkGUCPrefixReserved("snowflake_ids");
    for (int s = 0; s < count; s++) compare(static_cast<Setting>(s));
    // Most sessions need no mask, and each definition sorts all settings of a server 15. A parallel worker always may get
    // one from its leader.
    if (mask == 0 && !InitializingParallelWorker) return;
    const int found = mask;
    mask = 0;  // its default
    DefineCustomIntVariable(mask_name, "Settings of this extension whose values were not accepted.",
                            "Not to be set: parallel workers get it from their leader.", &mask, 0, 0, any, PGC_SIGHUP,
                            GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE | GUC_ALLOW_IN_PARALLEL, nullptr,
                            set_mask, nullptr);
    if (found == 0) return;
    mask = found;
    // A value that is not the default goes to parallel workers. If the server refuses to set it, the variable in this
    // process is right nevertheless.
    char text[16];
    snprintf(text, sizeof text, "%d", mask);
    set_config_option(mask_name, text, PGC_SIGHUP, PGC_S_OVERRIDE, GUC_ACTION_SET, true, DEBUG1, false);
}

// Not in a parallel worker: it has its leader's mask, and gets its leader's values in any order.
void accept(Setting s) {
    if (!InitializingParallelWorker) mask &= ~bit(s);
}

void refuse(int bits) {
    int s = 0;
    while ((bits & 1 << s) == 0) s++;
    const Given& g = given[s];
    // In a parallel worker only its leader knows the value.
    const bool unknown = !g.was_given;
    const bool misplaced = !for_the_server(g.source);
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("value of parameter \"snowflake_ids.%s\" was not accepted: \"%s\"", known[s].name,
                unknown ? "?" : g.text),
         unknown      ? errdetail("The session that started this parallel worker has the value.")
         : misplaced  ? errdetail("It was set for %s. Only a value for the whole server counts.", where_set(g.source))
         : g.parallel ? errdetail("The library was first loaded inside a parallel operation, in which this server "
                                  "changes no settings.")
                      : errdetail("It must be %s. Ids that are drawn with the default could be those of another "
                                  "server.",
                                  known[s].must_be),
         unknown      ? errhint("snowflake_ids.status() shows the value in that session.")
         : misplaced  ? errhint("Remove it there, set it in postgresql.conf if it is needed, and connect again.")
         : g.parallel ? errhint("Connect again and run LOAD 'snowflake_ids' first, or add it to "
                                "shared_preload_libraries. Newer minor versions of the server do not need this.")
                      : errhint("Correct it in postgresql.conf or with ALTER SYSTEM, reload the configuration, and "
                                "connect again.")));
    pg_unreachable();
}

char* describe() {
    if (mask == 0) return nullptr;
    StringInfoData list;
    initStringInfo(&list);
    for (int s = 0; s < count; s++) {
        if ((mask & 1 << s) == 0) continue;
        appendStringInfo(&list, "%s%s = %s", list.len > 0 ? ", " : "", known[s].name,
                         given[s].was_given ? given[s].text : "?");
    }
    return list.data;
}

}  // namespace snowflake_ids::not_accepted
