// The end of the last whole record of WAL.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::feed {

// The end of the last record that lies below `flushed` as a whole. `flushed` if that cannot be told.
XLogRecPtr end_of_records(XLogRecPtr flushed, TimeLineID timeline);

}  // namespace snowflake_ids::feed
