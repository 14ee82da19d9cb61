// Settings whose value the server did not accept: out of range, no number, or set in the wrong place. It continues with
// the default, which another server may use too, so no ids are generated.
//
// Until the library is loaded, its settings are placeholders with a text. If the text cannot become the value, there is
// only a WARNING, which most clients hide.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::refused_settings {

// The settings on which uniqueness depends.
enum Setting : int { machine_id, sno_sequence_min, sno_sequence_max, clock_regression, durable_window, count };

// Calls `define`, which defines all settings, and finds those that were not accepted.
void define_settings(void (*define)());

void accept(Setting s);

// Parallel workers of the session do not know this, but no ids are generated there.
bool is_refused(Setting s);

void fail_if_any();

// For snowflake_ids.status(): these settings with their values, palloc'd; null if all were accepted.
char* describe();

}  // namespace snowflake_ids::refused_settings
