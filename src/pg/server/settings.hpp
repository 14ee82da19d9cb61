// The settings (snowflake_ids.*). Settings on which uniqueness depends can be changed only by those who control the
// server, because they are PGC_SIGHUP. Every user can change the others.
#pragma once

#include "core/step.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::settings {

// What a call does when all ids of the current tick are used.
enum class Overflow : int { wait, error };

extern int machine_id;        // 0-65535; -1: automatic, see machine_id.hpp
extern int sno_sequence_min;  // 0-65535
extern int sno_sequence_max;
extern int overflow;            // an Overflow
extern int clock_regression;    // an OnRegression: hold, wait or error
extern int standby_machine_id;  // the machine id in recovery; -1: no ids with a machine id are generated there
extern int max_wait_ms;         // the limit for all waits of one call together
extern int durable_window_ms;   // how far ahead of the clock ceilings are written to disk

inline milliseconds max_wait() { return milliseconds{max_wait_ms}; }
inline milliseconds durable_window() { return milliseconds{durable_window_ms}; }

// This counter grows when a setting on which uniqueness depends changes, and when the WAL ceiling of this database may
// be in another relation. A generator that was set up with another value of the counter must be set up again.
[[gnu::visibility("hidden")]] extern uint64 generation;

// Defines all settings; called once, from _PG_init.
void define();

}  // namespace snowflake_ids::settings
