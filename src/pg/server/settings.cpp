// Each setting: its name, description, range, default, and who may change it.
#include "pg/server/settings.hpp"

#include <climits>

extern "C" {
#include "utils/guc.h"
}

#include "pg/server/not_accepted.hpp"

namespace snowflake_ids::settings {

// The defaults: define() hands them to the server.
int machine_id = -1;
int sno_sequence_min = 0;
int sno_sequence_max = 65535;
int overflow = static_cast<int>(Overflow::wait);
int clock_regression = static_cast<int>(OnRegression::hold);
int standby_machine_id = -1;
int max_wait_ms = 10000;
int durable_window_ms = 2000;
uint64 generation = 1;

namespace {

const config_enum_entry overflow_options[] = {{"wait", static_cast<int>(Overflow::wait), false},
                                              {"error", static_cast<int>(Overflow::error), false},
                                              {nullptr, 0, false}};

const config_enum_entry regression_options[] = {{"hold", static_cast<int>(OnRegression::hold), false},
                                                {"wait", static_cast<int>(OnRegression::wait), false},
                                                {"error", static_cast<int>(OnRegression::error), false},
                                                {nullptr, 0, false}};

// The library may be loaded inside a parallel operation; then its settings are defined there.
constexpr int in_parallel = GUC_ALLOW_IN_PARALLEL;

// The assign hook of a setting on which uniqueness depends.
template <not_accepted::Setting setting>
void changed(int, void*) {
    not_accepted::accept(setting);
    generation++;
}

template <not_accepted::Setting setting>
void define_sighup_int(const char* name, const char* brief, const char* detail, int* variable, int max) {
    DefineCustomIntVariable(name, brief, detail, variable, *variable, 0, max, PGC_SIGHUP, in_parallel, nullptr,
                            changed<setting>, nullptr);
}

}  // namespace

void define() {
    DefineCustomIntVariable(
        "snowflake_ids.machine_id", "Node id of this server: the sno partition and the Snowflake-SI machine id.",
        "Must differ between servers whose ids may meet. -1: from the system identifier; 0 in narrow layouts.",
        &machine_id, machine_id, -1, 65535, PGC_SIGHUP, in_parallel, nullptr, changed<not_accepted::machine_id>,
        nullptr);
    DefineCustomIntVariable(
        "snowflake_ids.standby_machine_id", "Node id of this server while it is in recovery.",
        "Must differ from that of every other server; a base backup copies it. -1: no ids in recovery.",
        &standby_machine_id, standby_machine_id, -1, 65535, PGC_SIGHUP, in_parallel, nullptr,
        changed<not_accepted::standby_machine_id>, nullptr);
    define_sighup_int<not_accepted::sno_sequence_min>(
        "snowflake_ids.sno_sequence_min", "Lowest sequence number of a sno.",
        "With sno_sequence_max it shares one partition between servers; six numbers at least.", &sno_sequence_min,
        65535);
    define_sighup_int<not_accepted::sno_sequence_max>(
        "snowflake_ids.sno_sequence_max", "Highest sequence number of a sno.", nullptr, &sno_sequence_max, 65535);
    DefineCustomEnumVariable("snowflake_ids.overflow", "What to do when the sequence of a tick is used up.",
                             "\"wait\" for the next tick, or \"error\".", &overflow, overflow, overflow_options,
                             PGC_USERSET, in_parallel, nullptr, nullptr, nullptr);
    DefineCustomEnumVariable("snowflake_ids.clock_regression",
                             "What to do when the clock is behind the last id and no tick-tock is free.",
                             "\"hold\" the last time and continue to count, \"wait\" for the clock, or \"error\".",
                             &clock_regression, clock_regression, regression_options, PGC_SIGHUP, in_parallel, nullptr,
                             changed<not_accepted::clock_regression>, nullptr);
    DefineCustomIntVariable("snowflake_ids.max_wait", "Longest time to wait for an id.",
                            "Longer waits end in an error. Measured on a monotonic clock.", &max_wait_ms, max_wait_ms,
                            0, INT_MAX, PGC_USERSET, GUC_UNIT_MS | in_parallel, nullptr, nullptr, nullptr);
    DefineCustomIntVariable("snowflake_ids.durable_window", "How far ahead the durable ceilings are written.",
                            "One sync per window; after a restart ids may run ahead of the clock by 1.25 windows.",
                            &durable_window_ms, durable_window_ms, 100, 3600000, PGC_SIGHUP, GUC_UNIT_MS | in_parallel,
                            nullptr, changed<not_accepted::durable_window>, nullptr);
}

}  // namespace snowflake_ids::settings
