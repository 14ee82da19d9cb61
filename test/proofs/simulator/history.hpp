// One history: sessions on a server and what goes wrong. At the end everybody can draw.
#pragma once

#include <string>
#include <vector>

#include "simulator/session.hpp"

namespace snowflake_ids::simulator {

struct Faults {
    Value crashes = 0, orphans = 0, power = 0, steps = 0, disk = 0, promotions = 0, rewinds = 0;
};

class History {
public:
    World w;
    Faults faults;
    bool verbose = false;

    History(Value seed, const Wrong& wrong) : scheduler_(seed), random_(scheduler_.random) {
        scheduler = &scheduler_;
        w.wrong = wrong;
        constexpr UnixTime epoch{1'700'000'000s};
        const auto rules = [this](bool toggle, std::initializer_list<std::uint32_t> last) {
            return Rules{.min = 0, .max = random_.of(last), .max_tick = (Value{1} << 40) - 1, .has_toggle = toggle};
        };
        w.generators[0] = {rules(true, {3, 255, 65535}), {epoch, 4ms, 40}};
        w.generators[1] = {rules(false, {3, 65535}), {epoch, 1ms, 40}};
        w.generators[2] = {rules(false, {255, 7}), {epoch, microseconds{random_.of({1000, 10000})}, 40}};
        w.generators[3] = {rules(false, {255, 65535}), {epoch, microseconds{random_.of({100000, 1000000})}, 40}};
        w.window = microseconds{random_.of({100000, 500000, 2000000})};
        most_pause_us_ = random_.of({500, 5000, 50000});
        bulk_ = random_.of({5, 50, 400});
    }
    ~History() { scheduler = nullptr; }

    void run(microseconds length) {
        start_server(0);
        MonotonicTime next{};
        while (next.time_since_epoch() < length && w.judge.fault.empty()) {
            next += microseconds{random_.below(2000000)};
            scheduler_.run_until(next);
            something_happens();
        }
        for (Site& s : sites_) {
            s.clock_ahead = std::max<microseconds>(s.clock_ahead, 0s);
            s.disk.sync_fails = s.disk.write_fails = false;
        }
        drawn_last_ = 0;
        last_part_ = true;
        scheduler_.run_until(scheduler_.now + 30s);
        if (drawn_last_ == 0) w.judge.blame("nobody can draw any more");
    }
    microseconds length() const { return scheduler_.now.time_since_epoch(); }

private:
    struct Process {
        std::shared_ptr<Fiber> fiber;
        Session* session;
    };

    void note(const char* what) {
        if (verbose) std::printf("%12.6f s  %s\n", std::chrono::duration<double>(length()).count(), what);
    }

    void start_server(std::size_t site, bool promoted = false) {
        primary_ = site;
        sites_[site].memory = std::make_shared<Memory>();
        if (promoted) draw_in_each_database();
        const std::size_t count = 3 + random_.below(8);
        for (std::size_t i = 0; i < count; i++) start_session(static_cast<std::uint32_t>(i));
    }
    // Until a database has drawn after a promotion, others do not know its ids. Nobody gets these.
    void draw_in_each_database() {
        std::uint32_t left = database_count;
        for (std::uint32_t i = 0; i < database_count; i++) {
            auto session = std::make_shared<Session>(w, sites_[primary_], i);
            session->thrown_away = true;
            sessions_.push_back(session);
            auto fiber = scheduler_.start([&left, s = session.get()] {
                for (bool ok = false; !ok && !s->fenced; s->end(true)) {
                    s->begin();
                    ok = s->draw(0).has_value();
                }
                left--;
            });
            processes_.push_back({std::move(fiber), session.get()});
        }
        while (left != 0) scheduler_.run_until(scheduler_.now + 1ms);
    }
    void start_session(std::uint32_t number) {
        auto session = std::make_shared<Session>(w, sites_[primary_], number);
        sessions_.push_back(session);
        auto f = scheduler_.start([this, s = session.get()] { write(*s); });
        processes_.push_back({std::move(f), session.get()});
    }

    void pause() { scheduler_.sleep(microseconds{random_.below(most_pause_us_)}); }
    void write(Session& s) {
        while (!s.fenced) {
            write_one(s);
            if (!random_.one_in(3)) pause();
        }
    }
    void write_one(Session& s) {
        s.begin();
        const Value statements = 1 + random_.below(3);
        bool ok = true;
        for (Value i = 0; ok && i < statements; i++) {
            s.new_statement();
            const auto g = static_cast<std::uint32_t>(random_.below(generator_count));
            const Value rows = random_.one_in(4) ? 1 + random_.below(bulk_) : 1;
            for (Value n = 0; ok && n < rows; n++) {
                const Drawn d = s.draw(g);
                ok = d.has_value();
                if (!ok) break;
                drawn_last_ += last_part_ && !s.orphaned;
                if (random_.one_in(10)) s.look();
                if (random_.one_in(20)) scheduler_.sleep(microseconds{random_.below(3000)});
                if (!random_.one_in(50)) s.insert(g, *d);
            }
            if (random_.one_in(200))
                ok = s.observe(g, sites_[primary_].wall() + milliseconds{random_.of({-500, 0, 300, 3000})});
            if (random_.one_in(4)) pause();
        }
        s.end(ok && !random_.one_in(6));
    }

    void something_happens() {
        Site& site = sites_[primary_];
        switch (random_.below(10)) {
            case 0:
            case 1:
                faults.crashes++;
                crash(random_.one_in(3));
                lose_unflushed(site);
                note("crash");
                return restart(primary_);
            case 2:
                faults.power++;
                end_orphans();
                crash(false);
                lose_unflushed(site);
                site.disk.lose_power();
                note("power failure");
                return restart(primary_);
            case 3:
            case 4: {
                faults.steps++;
                note("clock step");
                site.clock_ahead += milliseconds{random_.of({-10000, -2500, -700, -20, -3, 3, 700, 3000, 10000})};
                site.clock_ahead = std::min<microseconds>(site.clock_ahead, 20s);
                return;
            }
            case 5:
                faults.disk++;
                note("disk error");
                return (void) ((random_.one_in(2) ? site.disk.sync_fails : site.disk.write_fails) = true);
            case 6:
                return promote();
            case 7:
                return end_orphans();
            default:
                return;
        }
    }
    void crash(bool leave_orphans) {
        for (Process& p : processes_) {
            if (leave_orphans && random_.one_in(2)) {
                faults.orphans++;
                p.session->orphaned = true;
                orphans_.push_back(p);
            } else {
                Scheduler::kill(*p.fiber);
                if (sites_[primary_].locked_by == p.fiber.get()) sites_[primary_].locked_by = nullptr;
            }
        }
        processes_.clear();
    }
    void end_orphans() {
        for (Process& p : orphans_) {
            Scheduler::kill(*p.fiber);
            for (Site& s : sites_) {
                if (s.locked_by == p.fiber.get()) s.locked_by = nullptr;
            }
        }
        orphans_.clear();
    }
    // Unflushed WAL may have reached the disk.
    void lose_unflushed(Site& site) {
        for (WalPosition& wal : site.wal) {
            if (random_.one_in(2)) wal.written = wal.flushed;
            wal.flushed = wal.written;
        }
    }
    void restart(std::size_t site, bool promoted = false) {
        if (random_.one_in(2)) scheduler_.run_until(scheduler_.now + microseconds{random_.below(300000)});
        start_server(site, promoted);
    }
    // The standby has all WAL. The old primary becomes its standby, with its own ceiling file or a copy.
    void promote() {
        faults.promotions++;
        end_orphans();
        crash(false);
        Site& old = sites_[primary_];
        Site& site = sites_[1 - primary_];
        lose_unflushed(old);
        std::copy(std::begin(old.wal), std::end(old.wal), site.wal);
        site.clock_ahead = old.clock_ahead + milliseconds{random_.of({-2000, -5, 0, 0, 5, 2000})};
        restart(1 - primary_, true);
        if (random_.one_in(2)) {
            faults.rewinds++;
            std::memcpy(old.disk.durable, site.disk.durable, sizeof old.disk.durable);
            std::memcpy(old.disk.cache, site.disk.durable, sizeof old.disk.cache);
            std::fill(std::begin(old.disk.dirty), std::end(old.disk.dirty), false);
        }
        note("promotion");
    }

    Scheduler scheduler_;
    Random& random_;
    Site sites_[2];
    std::size_t primary_ = 0;
    std::vector<std::shared_ptr<Session>> sessions_;
    std::vector<Process> processes_, orphans_;
    Value most_pause_us_;
    Value bulk_;
    bool last_part_ = false;
    Value drawn_last_ = 0;
};

}  // namespace snowflake_ids::simulator
