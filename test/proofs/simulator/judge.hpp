// What must hold: no id twice, an id is larger than all that its session had seen, and no row appears below a settled
// time.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/site.hpp"

namespace snowflake_ids::simulator {

inline constexpr std::size_t most_running = 64;
inline constexpr UnixTime never = UnixTime::max(), always = UnixTime::min();

// The start of a tick, by generator.
struct Times {
    UnixTime at[generator_count];

    explicit Times(UnixTime all) { std::fill(std::begin(at), std::end(at), all); }
    bool any_before(const Times& t) const {
        for (std::uint32_t g = 0; g < generator_count; g++) {
            if (at[g] < t.at[g]) return true;
        }
        return false;
    }
    void lift_to(const Times& t) {
        for (std::uint32_t g = 0; g < generator_count; g++) at[g] = std::max(at[g], t.at[g]);
    }
};

inline constexpr std::uint32_t table_count = 2, all_tables = table_count;
struct Rows {
    Times of[table_count] = {Times{never}, Times{never}};
};

struct Snapshot {
    Value xmin = 0, xmax = 0;
    Value running[most_running];
    std::size_t count = 0;
    std::size_t commits = 0;  // how many transactions had committed

    bool finished(Value xid) const {
        if (xid >= xmax) return false;
        return std::find(running, running + count, xid) == running + count;
    }
};

// They outlive servers, as those in WAL do.
class Transactions {
public:
    Value next = 3;
    Value ended = 0;  // also those that were rolled back

    struct Running {
        Value xid;
        std::uint32_t database;
        bool prepared;
        Rows low;  // the earliest times of its rows
    };

    Value begin(std::uint32_t database) {
        running_.push_back({next, database, false, {}});
        return next++;
    }
    void add_row(Value xid, std::uint32_t table, std::uint32_t g, UnixTime t) {
        for (Running& r : running_) {
            if (r.xid == xid) r.low.of[table].at[g] = std::min(r.low.of[table].at[g], t);
        }
    }
    void prepare(Value xid) {
        for (Running& r : running_) {
            if (r.xid == xid) r.prepared = true;
        }
    }
    bool is_running(Value xid) const {
        return std::any_of(running_.begin(), running_.end(), [&](const Running& r) { return r.xid == xid; });
    }
    // False if it is a prepared one of another database.
    bool is_known(Value xid, std::uint32_t database) const {
        return std::any_of(running_.begin(), running_.end(),
                           [&](const Running& r) { return r.xid == xid && (!r.prepared || r.database != database); });
    }
    Rows end(Value xid) {
        ended++;
        for (auto r = running_.begin(); r != running_.end(); ++r) {
            if (r->xid != xid) continue;
            const Rows low = r->low;
            running_.erase(r);
            return low;
        }
        return {};
    }
    void crash() {
        std::erase_if(running_, [](const Running& r) { return !r.prepared; });
    }
    std::vector<Value> prepared(std::uint32_t database) const {
        std::vector<Value> out;
        for (const Running& r : running_) {
            if (r.prepared && r.database == database) out.push_back(r.xid);
        }
        return out;
    }
    std::size_t count() const { return running_.size(); }
    Snapshot snapshot(std::size_t commits) const {
        Snapshot s;
        s.xmin = s.xmax = next;
        s.commits = commits;
        for (const Running& r : running_) {
            s.running[s.count++] = r.xid;
            s.xmin = std::min(s.xmin, r.xid);
        }
        return s;
    }

private:
    std::vector<Running> running_;
};

class Judge {
public:
    std::string fault;
    std::uint64_t ids = 0, claims = 0, polls = 0, settled_polls = 0;

    void blame(std::string what) {
        if (fault.empty()) fault = std::move(what);
    }

    void claimed(std::uint32_t generator, const ledger::Claim& c) {
        claims++;
        ids += c.count;
        auto& ranges = issued_[(c.tick << 1 | c.toggle) * generator_count + generator];
        const std::uint32_t end = c.first + c.count;
        for (const auto& [from, to] : ranges) {
            if (c.first < to && from < end) return blame("an id twice: " + name(generator, c.tick, c.toggle, c.first));
        }
        if (!ranges.empty() && ranges.back().second == c.first)
            ranges.back().second = end;
        else
            ranges.emplace_back(c.first, end);
    }
    void drew(std::uint32_t generator, Value tick, Value toggle, std::uint32_t number, Value after) {
        if (order(tick, number) <= after)
            blame("not larger than an id that was seen: " + name(generator, tick, toggle, number));
    }
    static Value order(Value tick, std::uint32_t number) { return tick << 16 | number; }

    void committed(std::uint32_t database, const Rows& low) {
        commits_.push_back({database, low});
        for (std::uint32_t i = 0; i < table_count; i++) {
            if (low.of[i].any_before(settled_[database][i])) blame("a row appeared below a settled time");
        }
    }
    std::size_t commits() const { return commits_.size(); }
    // A reader was told that no row appears in a tick before these.
    void settled(std::uint32_t database, std::uint32_t table, const Snapshot& s, const Times& told) {
        settled_polls++;
        for (std::uint32_t of = 0; of < table_count; of++) {
            if (table != of && table != all_tables) continue;
            settled_[database][of].lift_to(told);
            for (std::size_t i = s.commits; i < commits_.size(); i++) {
                if (commits_[i].database == database && commits_[i].low.of[of].any_before(told))
                    blame("a row that the reader did not see is below its settled time");
            }
        }
    }

    Value seen[generator_count] = {};

private:
    static std::string name(std::uint32_t generator, Value tick, Value toggle, std::uint32_t number) {
        return "generator " + std::to_string(generator) + ", tick " + std::to_string(tick) + ", toggle " +
               std::to_string(toggle) + ", number " + std::to_string(number);
    }

    std::unordered_map<Value, std::vector<std::pair<std::uint32_t, std::uint32_t>>> issued_;
    struct Commit {
        std::uint32_t database;
        Rows low;
    };
    std::vector<Commit> commits_;
    Times settled_[database_count][table_count] = {{Times{always}, Times{always}}, {Times{always}, Times{always}}};
};

}  // namespace snowflake_ids::simulator
