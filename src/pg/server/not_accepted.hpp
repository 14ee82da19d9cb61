// Values that were configured and that the server did not accept: out of range, not a number, set where they cannot be
// set. The server goes on with the default then, which may be that of another server. So nothing is drawn until a good
// value has come.
//
// Until the library is loaded its settings are placeholders: names with a text. The server applies the text while the
// setting is defined, and if it cannot, says so in a WARNING that most clients hide. That is found out here by the
// source of the value before and after the definition.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::not_accepted {

// Settings that uniqueness rests on. Each is a bit of `mask`.
enum Setting : int {
    machine_id,
    standby_machine_id,
    sno_sequence_min,
    sno_sequence_max,
    si_machine_bits,
    si_base_clock,
    clock_regression,
    max_clock_lead,
    durable_window,
    count
};

constexpr int bit(Setting s) { return 1 << s; }
inline constexpr int any = (1 << count) - 1;

// The variable of a setting that is not for people: with it parallel workers have what their leader has.
extern int mask;

// Calls `define`, and finds out which of our settings had a value that was not accepted.
void define_settings(void (*define)());

// From the assign hooks: a value has been accepted.
void accept(Setting s);

[[noreturn]] void refuse(int bits);

// Raises an error if the value of one of these settings was not accepted.
inline void check(int bits) {
    if (unlikely((mask & bits) != 0)) refuse(mask & bits);
}

// For people: the settings and their values, palloc'd; null if all were accepted.
char* describe();

}  // namespace snowflake_ids::not_accepted
