// The operator's way out: a damaged ledger, a frozen Snowflake-SI layout, a generator that a
// clock jump has put far ahead. It takes an explicit floor, because whatever could be
// derived is just what is in doubt.
#pragma once

#include <cstdint>

#include "ledger/ceiling.hpp"
#include "ledger/file.hpp"

namespace snowflake_ids::ledger {

struct Reset {
    std::uint64_t floor_ms = 0;    // nothing at or before this time is issued again
    std::uint64_t ceiling_ms = 0;  // durable ceiling of what is lowered: beyond the clock and the floor
    Format format = Format::none;  // none: all generators
    int node = -1;                 // -1: all nodes
    bool force = false;            // may put a generator back below ids it has issued
    bool unfreeze = false;         // forget the Snowflake-SI layout
    bool sync = true;
};

// The highest time in Unix ms that a chosen generator has issued or may have issued: the
// floor must not be below it unless forced.
std::uint64_t highest_issued_ms(const Ledger& ledger, const Reset& reset);

// Applies it under the ceiling file's lock. Every backend sets its generators up again
// afterwards (Header::epoch).
CeilingResult apply(const char* dir, unsigned mode, const Ledger& ledger, const Reset& reset);

// Makes a ledger file usable again, in place: other processes may have it mapped. Slots with
// a possible key are kept and raised to the floor, the others are freed; the constants are
// written anew; damaged words of the ceiling file become the floor.
Attached repair(const char* dir, const char* name, unsigned mode, std::uint64_t system_identifier,
                std::uint64_t floor_ms);

// The same where only the ceiling file is damaged. check_ceilings() tells.
CeilingResult check_ceilings(const char* dir, unsigned mode, const Ledger& ledger);
CeilingResult repair_ceilings(const char* dir, unsigned mode, const Ledger& ledger, std::uint64_t floor_ms);

}  // namespace snowflake_ids::ledger
