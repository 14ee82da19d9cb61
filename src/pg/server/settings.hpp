// The settings (snowflake_ids.*). Those on which uniqueness depends are PGC_SIGHUP, so only those who control the
// server can change them.
#pragma once

#include "core/step.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::settings {

extern int machine_id;        // 0-65535; -1: automatic (machine_id.hpp)
extern int sno_sequence_min;  // 0-65535
extern int sno_sequence_max;
extern int clock_regression;  // an OnRegression: hold, wait or error
extern int max_wait_ms;
extern int durable_window_ms;

inline milliseconds max_wait() { return milliseconds{max_wait_ms}; }
inline milliseconds durable_window() { return milliseconds{durable_window_ms}; }

// Grows when a setting on which uniqueness depends changes, and when the WAL ceiling may be in another relation. Then
// generators must be set up again.
[[gnu::visibility("hidden")]] extern uint64 changes;

void define();

}  // namespace snowflake_ids::settings
