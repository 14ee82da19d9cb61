// The definition of each setting.
#include "pg/server/settings.hpp"

#include <climits>

extern "C" {
#include "utils/guc.h"
}

#include "pg/server/refused_settings.hpp"

namespace snowflake_ids::settings {

int machine_id = -1;
int sno_sequence_min = 0;
int sno_sequence_max = 65535;
int clock_regression = static_cast<int>(OnRegression::hold);
int max_wait_ms = 10000;
int durable_window_ms = 2000;
uint64 changes = 1;

namespace {

const config_enum_entry regression_options[] = {{"hold", static_cast<int>(OnRegression::hold), false},
                                                {"wait", static_cast<int>(OnRegression::wait), false},
                                                {"error", static_cast<int>(OnRegression::error), false},
                                                {nullptr, 0, false}};

// The library may be loaded inside a parallel operation.
constexpr int in_parallel = GUC_ALLOW_IN_PARALLEL;

// The assign hook of a setting on which uniqueness depends.
template <refused_settings::Setting setting>
void changed(int, void*) {
    refused_settings::accept(setting);
    changes++;
}

// The default is what `variable` has now.
template <refused_settings::Setting setting>
void define_sighup_int(const char* name, const char* brief, const char* detail, int* variable, int max) {
    DefineCustomIntVariable(name, brief, detail, variable, *variable, 0, max, PGC_SIGHUP, in_parallel, nullptr,
                            changed<setting>, nullptr);
}

}  // namespace

void define() {
    DefineCustomIntVariable(
        "snowflake_ids.machine_id",
        "The machine id in the ids of this server: the sno partition and the Snowflake-SI machine id.",
        "If rows of several servers may get into one table, each server needs its own. With -1, it is derived from the system identifier, and 0 in layouts with fewer than 16 node bits.",
        &machine_id, machine_id, -1, 65535, PGC_SIGHUP, in_parallel, nullptr, changed<refused_settings::machine_id>,
        nullptr);
    define_sighup_int<refused_settings::sno_sequence_min>(
        "snowflake_ids.sno_sequence_min", "The lowest sequence number of new snos.",
        "Together with sno_sequence_max, it lets several servers share one partition. The range must contain at least six numbers.",
        &sno_sequence_min, 65535);
    define_sighup_int<refused_settings::sno_sequence_max>("snowflake_ids.sno_sequence_max",
                                                          "The highest sequence number of new snos.", nullptr,
                                                          &sno_sequence_max, 65535);
    DefineCustomEnumVariable(
        "snowflake_ids.clock_regression", "What a call does when the clock is behind the last id.",
        "With \"hold\", ids continue from the last time. With \"wait\", the call waits. A sno first uses its tick-tock bit.",
        &clock_regression, clock_regression, regression_options, PGC_SIGHUP, in_parallel, nullptr,
        changed<refused_settings::clock_regression>, nullptr);
    DefineCustomIntVariable("snowflake_ids.max_wait", "The longest time that a call waits for an id.",
                            "After it, the call raises an error.", &max_wait_ms, max_wait_ms, 0, INT_MAX, PGC_USERSET,
                            GUC_UNIT_MS | in_parallel, nullptr, nullptr, nullptr);
    DefineCustomIntVariable(
        "snowflake_ids.durable_window", "How far ahead of the clock the server reserves time on disk for ids.",
        "The server syncs the file once in this time. After a restart, ids can be ahead of the clock by 1.25 times this time.",
        &durable_window_ms, durable_window_ms, 100, 3600000, PGC_SIGHUP, GUC_UNIT_MS | in_parallel, nullptr,
        changed<refused_settings::durable_window>, nullptr);
}

}  // namespace snowflake_ids::settings
