// Lives of a feed. After a crash, PostgreSQL hands out again the transaction ids that have left no WAL. An older
// position can count such an id as ended, so its reader would miss the row that gets it as its stamp later. Therefore a
// position names its life. If later lives have begun since, its reader goes back to the first stamps of these.
//
// A life lasts from the start of a server, a crash of one of its processes, or a promotion to the next. Its id is
// random, and made when a process needs it first, not in recovery. Before the first stamp of a life in a database, and
// before its first position, it is noted there (pg/ceilings/ceiling_in_wal.hpp), outside the transaction and flushed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace snowflake_ids::ledger {

struct FeedLife {
    std::uint64_t id = 0;         // 0: none
    std::uint64_t first_xid = 0;  // this and later lives stamp no smaller one, except for prepared transactions
    std::uint64_t wal = 0;        // a position in WAL; what earlier lives wrote above it is lost

    bool operator==(const FeedLife&) const = default;
};

// The lives of a database, from the oldest. The row has less than 2 kB, so that PostgreSQL does not compress it.
struct FeedLives {
    static constexpr int most = 60;
    FeedLife all[most];

    bool operator==(const FeedLives&) const = default;

    constexpr int count() const {
        return static_cast<int>(
            std::find_if(std::begin(all), std::end(all), [](const FeedLife& l) { return l.id == 0; }) - all);
    }
    constexpr bool has(std::uint64_t id) const {
        return std::any_of(all, all + count(), [id](const FeedLife& l) { return l.id == id; });
    }
    constexpr std::uint64_t last() const { return count() == 0 ? 0 : all[count() - 1].id; }

    // Drops the oldest one if there are too many.
    constexpr void note(const FeedLife& life) {
        if (has(life.id)) return;
        int n = count();
        if (n == most) {
            std::copy(all + 1, all + most, all);
            n--;
        }
        all[n] = life;
    }
};

// How a position of an earlier life continues in the present one.
struct Continued {
    bool known = false;
    bool lost = false;       // WAL that it needs was lost
    std::uint64_t from = 0;  // stamps from here on are new; at most its xmax
};

// A position of a standby names the last life that was noted, and may have WAL of the next one.
constexpr Continued continue_from(const FeedLives& lives, std::uint64_t id, std::uint64_t xmax, std::uint64_t wal,
                                  bool standby) {
    Continued c{.from = xmax};
    bool is_next = false;
    for (int i = 0; i < lives.count(); i++) {
        const FeedLife& life = lives.all[i];
        if (c.known) {
            c.from = std::min(c.from, life.first_xid);
            c.lost = c.lost || (life.wal < wal && !(standby && is_next));
            is_next = false;
        } else {
            c.known = is_next = life.id == id;
        }
    }
    return c;
}

}  // namespace snowflake_ids::ledger
