// The order of Mastic ids for indexes: the neighbours of an id. A number needs no sort key, because it is one.
#pragma once

#include "core/id_order.hpp"
#include "core/mastic.hpp"

namespace snowflake_ids::mastic {

// lowest() and highest() are the first and the last id. next() and previous() return the neighbour of an id.
constexpr Id lowest() { return {0}; }
constexpr Id highest() { return {layout.max_id()}; }
constexpr Neighbour<Id> next(const Id& id) { return {{id.number + 1}, id.number != highest().number}; }
constexpr Neighbour<Id> previous(const Id& id) { return {{id.number - 1}, id.number != 0}; }

// The description of the type (id_order.hpp).
struct Type {
    using Id = mastic::Id;
    static constexpr const char* name = "mastic";
    static constexpr Id lowest() { return mastic::lowest(); }
    static constexpr Id highest() { return mastic::highest(); }
};

}  // namespace snowflake_ids::mastic
