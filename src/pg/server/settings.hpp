// The settings (snowflake_ids.*). Those on which uniqueness depends can be changed only by those who control the
// server (sighup); the others by every user.
#pragma once

#include "core/step.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::settings {

enum class Overflow : int { wait, error };

extern int machine_id;        // 0-65535; -1: automatic, see machine_id.hpp
extern int sno_sequence_min;  // 0-65535
extern int sno_sequence_max;
extern int overflow;            // an Overflow
extern int clock_regression;    // an OnRegression: hold, wait or error
extern int standby_machine_id;  // machine id in recovery; -1: refuse
extern int max_wait_ms;         // limit of all waits of one call together
extern int durable_window_ms;   // how far ahead the durable ceilings are written

inline milliseconds max_wait() { return milliseconds{max_wait_ms}; }
inline milliseconds durable_window() { return milliseconds{durable_window_ms}; }

// A counter that grows when a sighup setting changes, and when this database's WAL ceiling may be another relation. A
// generator that was set up under another value must be set up again.
[[gnu::visibility("hidden")]] extern uint64 generation;

// Defines all settings; called once, from _PG_init.
void define();

}  // namespace snowflake_ids::settings
