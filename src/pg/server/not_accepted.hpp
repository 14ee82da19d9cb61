// Configured values that the server did not accept, because they are out of range, are no number, or were set in a
// place where they cannot be set. The server then continues with the default, which another server may use too. So no
// ids are generated until a good value is set.
//
// Until the library is loaded, its settings are placeholders: names with a text. When the library defines a setting,
// the server uses the text as its value. If the server does not accept the text, it only shows a WARNING, which most
// clients hide. We find this out by comparing the source of the value before and after the definition.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::not_accepted {

// The settings on which uniqueness depends.
enum Setting : int {
    machine_id,
    standby_machine_id,
    sno_sequence_min,
    sno_sequence_max,
    clock_regression,
    durable_window,
    count
};

// Calls `define`, which defines all settings of the extension, and finds out which of the settings above had a value
// that was not accepted. _PG_init calls it once in each process.
void define_settings(void (*define)());

// Notes that the server has accepted a value of the setting. The assign hooks of the settings call it.
void accept(Setting s);

// True if the value of the setting was not accepted. Only the session itself knows this. Its parallel workers do not,
// but no ids are generated there in any case.
bool is_refused(Setting s);

// Raises an error if the value of any of these settings was not accepted.
void check();

// The settings whose values were not accepted, with these values, for snowflake_ids.status(). palloc'd; null if all
// were accepted.
char* describe();

}  // namespace snowflake_ids::not_accepted
