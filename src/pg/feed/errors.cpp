// Raises the errors of a poll.
#include "pg/feed/errors.hpp"

extern "C" {
#include "utils/inval.h"
#include "utils/lsyscache.h"
}

#include "pg/server/table_ancestors.hpp"

namespace snowflake_ids::feed {

// If the transaction already has its locks, PostgreSQL plans again without looking for changes. So this looks for them.
void fail_again(Oid table, const char* detail) {
    AcceptInvalidationMessages();
    ereport(ERROR,
            (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
             errmsg("could not poll \"%s\", because it has been altered", get_rel_name(table)),
             errdetail_internal("%s", detail), errhint("Poll again with the same position, in a new transaction.")));
}

void fail_copy_again(const char* detail) {
    ereport(ERROR, (errcode(copy_again), errmsg("the feed cannot be continued from this position"),
                    errdetail_internal("%s", detail),
                    errhint("Poll with the position '', which begins with the whole table.")));
}

void fail_mend(Oid table, const char* detail, const char* hint) {
    ereport(ERROR, (errcode(mend_the_table), errmsg("a reader of \"%s\" could miss rows", get_rel_name(table)),
                    errdetail_internal("%s", detail), errhint("%s", hint)));
}

void fail_unsound(Oid table, const char* detail) {
    fail_mend(
        table, detail,
        psprintf("As the owner, call this, and run what it returns: SELECT to_do FROM snowflake_ids.create_feed(%s);",
                 quote_literal_cstr(name_for_messages(table))));
}

}  // namespace snowflake_ids::feed
