// feed_client: writers of a table, a transaction that stays open, and readers of new and changed rows, in one process
// with one clock. test/bench/feed starts it for each way to read. The environment says what is sent to the server.
//
// Each transaction writes a number of its own: three insert a row, the fourth changes one of the writer's last rows.
// Prints figures, and for each number "row NUMBER WHAT COMMITTED READ PART", by tabs. WHAT is "new" or "changed".
// COMMITTED is when COMMIT has returned to the writer, READ when the reader has the number, or a later one of the same
// row, both in microseconds since the start; READ is "lost" if it never has. PART is 1, or 2 for rows written while the
// reader is away. It comes back with the position that it had. Other readers have lines for what they have lost.
// With GAP_US, a transaction is one INSERT, COMMITTED is when it was sent, a pause of at most GAP_US follows, and each
// reader has all lines.
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

[[noreturn]] void die(const std::string& what) {
    std::fprintf(stderr, "feed_client: %s\n", what.c_str());
    std::_Exit(1);
}

std::string told(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

const Clock::time_point start = Clock::now();
std::int64_t now_us() { return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count(); }
void pause_us(std::int64_t us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

class Session {
public:
    explicit Session(const std::string& server = "") : connection_(PQconnectdb(server.c_str()), PQfinish) {
        if (PQstatus(raw()) != CONNECTION_OK) die(PQerrorMessage(raw()));
    }
    PGconn* raw() { return connection_.get(); }
    Result send(const std::string& sql) { return checked(PQexec(raw(), sql.c_str()), sql); }
    void prepare(const char* name, const std::string& sql) {
        checked(PQprepare(raw(), name, sql.c_str(), 0, nullptr), sql);
    }
    Result run(const char* name, const std::vector<std::string>& parameters) {
        std::vector<const char*> values;
        for (const std::string& one : parameters) values.push_back(one.c_str());
        const int count = static_cast<int>(values.size());
        return checked(PQexecPrepared(raw(), name, count, values.data(), nullptr, nullptr, 0), name);
    }

private:
    Result checked(PGresult* raw_result, const std::string& what) {
        Result result(raw_result, PQclear);
        const ExecStatusType status = PQresultStatus(raw_result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) die(what + ": " + PQerrorMessage(raw()));
        return result;
    }
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

// ---- the reader

constexpr std::int64_t numbers_of_a_writer = 10'000'000;

// When a reader first had each number; one thread writes. 0: never.
class Seen {
public:
    Seen(int writers, double seconds) : per_writer_(static_cast<std::size_t>(seconds * 10000) + 1000) {
        for (int i = 0; i <= writers; ++i) when_.emplace_back(per_writer_);
    }
    void note(std::int64_t number) {
        std::atomic<std::int64_t>& when = at(number);
        if (when.load(std::memory_order_relaxed) != 0) return;
        when.store(now_us() + 1, std::memory_order_relaxed);
        count.fetch_add(1, std::memory_order_relaxed);
    }
    std::int64_t when(std::int64_t number) const {
        return const_cast<Seen*>(this)->at(number).load(std::memory_order_relaxed) - 1;
    }
    std::atomic<std::int64_t> count{0};

private:
    std::atomic<std::int64_t>& at(std::int64_t number) {
        const auto writer = static_cast<std::size_t>(number / numbers_of_a_writer);
        const auto which = static_cast<std::size_t>(number % numbers_of_a_writer);
        if (writer >= when_.size() || which >= per_writer_) die("more rows than there is room for");
        return when_[writer][which];
    }
    std::size_t per_writer_;
    std::vector<std::vector<std::atomic<std::int64_t>>> when_;
};

struct Reader {
    Reader(int number, int writers, double seconds) : seen(writers, seconds), name(std::to_string(number)) {}

    Seen seen;
    const std::string name;
    std::string position;
    std::atomic<bool> ready{false}, stop{false};
    std::atomic<std::int64_t> fetched{0};

    void got(const char* number) {
        fetched.fetch_add(1, std::memory_order_relaxed);
        seen.note(std::atoll(number));
    }

    // Each reader may have a consumer or a slot of its own.
    std::string told_by_name(const char* what) const {
        std::string text = told(what);
        for (std::size_t at; (at = text.find("{reader}")) != std::string::npos;) text.replace(at, 8, name);
        return text;
    }
    void begin(Session& session) {
        if (position.empty()) position = PQgetvalue(session.send(told_by_name("FEED_START")).get(), 0, 0);
    }

    // A position comes with the rows, as their first column.
    void poll_table() {
        Session session(told("FEED_READ_FROM"));
        begin(session);
        const std::string wait = told("FEED_WAIT");
        session.prepare("read", told_by_name("FEED_READ"));
        if (!wait.empty()) session.prepare("wait", wait);
        while (!stop) {
            if (!wait.empty()) position = PQgetvalue(session.run("wait", {position}).get(), 0, 0);
            const Result batch = session.run("read", {position});
            const int rows = PQntuples(batch.get());
            for (int i = 0; i < rows; ++i)
                if (!PQgetisnull(batch.get(), i, 1)) got(PQgetvalue(batch.get(), i, 1));
            if (rows > 0) position = PQgetvalue(batch.get(), rows - 1, 0);
            ready = true;
            if (wait.empty()) pause_us(10000);
        }
    }

    void listen() {
        Session session;
        session.send("LISTEN feed");
        ready = true;
        while (!stop) {
            pollfd socket{PQsocket(session.raw()), POLLIN, 0};
            poll(&socket, 1, 100);
            if (PQconsumeInput(session.raw()) == 0) die(PQerrorMessage(session.raw()));
            while (PGnotify* notify = PQnotifies(session.raw())) {
                got(notify->extra);
                PQfreemem(notify);
            }
        }
    }

    void decode() {
        Session session;
        begin(session);
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) die("pipe");
        const std::string database = "dbname=" + told("PGDATABASE");
        const pid_t child = fork();
        if (child == 0) {
            dup2(ends[1], 1);
            dup2(open("/dev/null", O_WRONLY), 2);  // it complains when it is ended
            execlp("pg_recvlogical", "pg_recvlogical", "-d", database.c_str(), "-S", position.c_str(), "--start", "-f",
                   "-", nullptr);
            _exit(127);
        }
        close(ends[1]);
        std::string text;
        char buffer[65536];
        pollfd output{ends[0], POLLIN, 0};
        session.prepare("active", "SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active");
        while (PQntuples(session.run("active", {position}).get()) == 0) {
            if (waitpid(child, nullptr, WNOHANG) != 0) die("pg_recvlogical ended");
            pause_us(10000);
        }
        ready = true;
        while (!stop) {
            if (poll(&output, 1, 100) <= 0) continue;
            const ssize_t size = ::read(ends[0], buffer, sizeof buffer);
            if (size <= 0) die("pg_recvlogical ended");
            text.append(buffer, static_cast<std::size_t>(size));
            std::size_t begin = 0;
            for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
                const std::string line = text.substr(begin, end - begin);
                const std::size_t at = line.find(" n[bigint]:");
                if (at != std::string::npos && line.starts_with("table public.feed:")) got(line.c_str() + at + 11);
            }
            text.erase(0, begin);
        }
        kill(child, SIGINT);
        close(ends[0]);
        waitpid(child, nullptr, 0);
    }

    void run() {
        const std::string kind = told("FEED_KIND");
        if (kind == "listen") {
            listen();
        } else if (kind == "decode") {
            decode();
        } else {
            poll_table();
        }
    }
};

// A reader that is there while this is.
class Reading {
public:
    explicit Reading(Reader& reader) : reader_(reader) {
        reader_.stop = reader_.ready = false;
        thread_ = std::thread([this] { reader_.run(); });
        while (!reader_.ready) pause_us(1000);
    }
    ~Reading() {
        reader_.stop = true;
        thread_.join();
    }
    // Until it has the last version of each row, or nothing new has come for the seconds. A reader that does not get
    // changed rows has each row.
    void await(const class Written& written, double seconds);

private:
    Reader& reader_;
    std::thread thread_;
};

// ---- the writers

struct Row {
    std::int64_t number, committed;
    std::int64_t changes = -1;  // the number that was there before
};

class Written {
public:
    void add(const Row& row) {
        rows.push_back(row);
        if (row.changes >= 0) next_[row.changes] = row.number;
    }
    bool is_changed_later(const Row& row) const { return next_.contains(row.number); }
    // When a reader had the row or a later version of it, or -1.
    std::int64_t read(const Seen& seen, const Row& row) const {
        std::int64_t first = -1;
        for (auto number = row.number;;) {
            if (const auto when = seen.when(number); when >= 0 && (first < 0 || when < first)) first = when;
            const auto later = next_.find(number);
            if (later == next_.end()) return first;
            number = later->second;
        }
    }
    std::vector<Row> rows;

private:
    std::unordered_map<std::int64_t, std::int64_t> next_;
};

void Reading::await(const Written& written, double seconds) {
    const bool new_only = !told("FEED_NEW_ONLY").empty();
    std::int64_t last = reader_.seen.count, since = now_us();
    for (const Row& row : written.rows) {
        if (new_only ? row.changes >= 0 : written.is_changed_later(row)) continue;
        for (; written.read(reader_.seen, row) < 0; pause_us(1000)) {
            if (reader_.seen.count != last) since = now_us();
            last = reader_.seen.count;
            if (static_cast<double>(now_us() - since) > seconds * 1e6) return;
        }
    }
}

struct Writer {
    explicit Writer(int which) : number(which * numbers_of_a_writer), random(static_cast<unsigned>(which)) {
        session.prepare("insert", told("FEED_INSERT"));
        session.prepare("update", told("FEED_UPDATE"));
    }
    // Its id, and where its last row is in rows.
    struct Key {
        std::string id;
        std::size_t at;
    };
    void insert() { keys.push_back({PQgetvalue(session.run("insert", {std::to_string(number)}).get(), 0, 0), 0}); }
    void write_alone(std::int64_t longest_gap) {
        ++number;
        const std::int64_t sent = now_us();
        insert();
        keys.back().at = rows.size();
        rows.push_back({number, sent});
        pause_us(static_cast<std::int64_t>(random() % static_cast<unsigned>(longest_gap)));
    }
    void write(std::int64_t longest_pause) {
        Key* changed = ++number % 4 == 3 && !keys.empty()
                           ? &keys[keys.size() - 1 - random() % std::min<std::size_t>(keys.size(), 16)]
                           : nullptr;
        session.send(begin);
        if (changed == nullptr) {
            insert();
        } else {
            session.run("update", {changed->id, std::to_string(number)});
        }
        if (longest_pause > 0) pause_us(static_cast<std::int64_t>(random() % static_cast<unsigned>(longest_pause)));
        session.send("COMMIT");
        Row row{number, now_us()};
        if (changed != nullptr) row.changes = rows[changed->at].number;
        (changed != nullptr ? *changed : keys.back()).at = rows.size();
        rows.push_back(row);
    }
    Session session;
    const std::string begin = told("FEED_BEGIN");
    std::int64_t number;
    std::minstd_rand random;
    std::vector<Row> rows;
    std::vector<Key> keys;
};

// Does what FEED_TICK says each 10 ms.
class Ticker {
public:
    Ticker() {
        if (told("FEED_TICK").empty()) return;
        thread_ = std::thread([this] {
            Session session;
            for (; !stop_; pause_us(10000)) session.send(told("FEED_TICK"));
        });
    }
    ~Ticker() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// ---- what the server uses

// Seconds of CPU that the server's processes have had.
double cpu_seconds(const std::string& postmaster) {
    double nanoseconds = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string pid = entry.path().filename();
        if (pid[0] < '0' || pid[0] > '9') continue;
        std::string stat;
        std::getline(std::ifstream(entry.path() / "stat"), stat);
        // The parent is the second field after the name, which is in parentheses.
        const std::size_t name_ends = stat.rfind(')');
        if (pid != postmaster && (name_ends == std::string::npos ||
                                  !std::string_view(stat).substr(name_ends + 4).starts_with(postmaster + ' ')))
            continue;
        double used = 0;
        std::ifstream(entry.path() / "schedstat") >> used;
        nanoseconds += used;
    }
    return nanoseconds / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 8) die("usage: feed_client SECONDS WRITERS LONGEST_PAUSE_US PATIENCE POSTMASTER READERS GAP_US");
    const double seconds = std::atof(argv[1]), patience = std::atof(argv[4]);
    const int writers = std::atoi(argv[2]), readers = std::atoi(argv[6]);
    const std::int64_t longest_pause = std::atoll(argv[3]), gap = std::atoll(argv[7]);
    const std::string postmaster = argv[5], hold = told("FEED_HOLD");
    Session session, holder;
    std::vector<std::unique_ptr<Writer>> all;
    for (int i = 1; i <= writers; ++i) all.push_back(std::make_unique<Writer>(i));
    const auto wal = [&session] {
        return std::atof(PQgetvalue(session.send("SELECT pg_current_wal_insert_lsn() - '0/0'").get(), 0, 0));
    };
    const Ticker ticker;
    std::vector<std::unique_ptr<Reader>> reader;
    for (int i = 1; i <= readers; ++i) reader.push_back(std::make_unique<Reader>(i, writers, seconds));
    Written written;
    {
        std::vector<std::unique_ptr<Reading>> reading;
        for (auto& one : reader) reading.push_back(std::make_unique<Reading>(*one));
        if (!hold.empty()) holder.send(hold);
        const double wal_before = wal(), cpu_before = cpu_seconds(postmaster);
        const std::int64_t from = now_us(), until = from + static_cast<std::int64_t>(seconds * 1e6);
        std::vector<std::thread> threads;
        for (auto& writer : all) {
            threads.emplace_back([&writer, until, longest_pause, gap] {
                while (now_us() < until) gap > 0 ? writer->write_alone(gap) : writer->write(longest_pause);
            });
        }
        pause_us(until - now_us());
        for (auto& thread : threads) thread.join();
        const double elapsed = static_cast<double>(now_us() - from) / 1e6;
        const double cpu = cpu_seconds(postmaster) - cpu_before, wal_bytes = wal() - wal_before;
        if (!hold.empty()) {
            holder.send("COMMIT");
            if (hold.find("INTO feed") != std::string::npos) written.add({0, now_us()});
        }
        for (auto& writer : all) {
            for (const Row& row : writer->rows) written.add(row);
        }
        std::printf("elapsed\t%.6f\ncpu\t%.6f\nwal\t%.0f\nwritten\t%zu\n", elapsed, cpu, wal_bytes,
                    written.rows.size());
        for (auto& one : reading) one->await(written, patience);
        // All at once: one that sleeps notices it only when it wakes.
        for (auto& one : reader) one->stop = true;
    }
    if (readers > 0) {
        std::printf("fetched\t%lld\nseen\t%lld\n", static_cast<long long>(reader[0]->fetched),
                    static_cast<long long>(reader[0]->seen.count));
    }
    const std::size_t before = written.rows.size();
    if (readers > 0 && writers > 0) {
        for (auto& writer : all) {
            writer->write(0);
            written.add(writer->rows.back());
        }
        Reading(*reader[0]).await(written, patience);
    }
    for (const auto& by : reader) {
        const bool first = by == reader[0];
        for (std::size_t i = 0; i < (first ? written.rows.size() : before); ++i) {
            const Row& row = written.rows[i];
            const std::int64_t read = written.read(by->seen, row);
            if (!first && gap == 0 && read >= 0) continue;
            std::printf("row\t%lld\t%s\t%lld\t%s\t%d\n", static_cast<long long>(row.number),
                        row.changes < 0 ? "new" : "changed", static_cast<long long>(row.committed),
                        read < 0 ? "lost" : std::to_string(read).c_str(), i < before ? 1 : 2);
        }
    }
}
