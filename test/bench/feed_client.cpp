// feed_client: writers of a table, a transaction that stays open, and a reader of new rows, in one process with one
// clock. test/bench/feed starts it for each way to read, and says in the environment what is sent to the server.
//
// Prints figures, and for each committed row "row NUMBER COMMITTED READ PART", by tabs. COMMITTED is when COMMIT has
// returned to the writer, READ when the reader has the row, both in microseconds since the start; READ is "lost" if it
// never has. PART is 1, or 2 for rows written while the reader is away. It comes back with the position that it had.
// With several readers, there is a line for each reader of a row. With GAP_US, a transaction is one INSERT, COMMITTED is
// when it was sent, and a pause of at most GAP_US follows.
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
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
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
    Session() : connection_(PQconnectdb(""), PQfinish) {
        if (PQstatus(raw()) != CONNECTION_OK) die(PQerrorMessage(raw()));
    }
    PGconn* raw() { return connection_.get(); }
    Result send(const std::string& sql) { return checked(PQexec(raw(), sql.c_str()), sql); }
    void prepare(const char* name, const std::string& sql) {
        checked(PQprepare(raw(), name, sql.c_str(), 0, nullptr), sql);
    }
    Result run(const char* name, const std::string& parameter) {
        const char* values[] = {parameter.c_str()};
        return checked(PQexecPrepared(raw(), name, 1, values, nullptr, nullptr, 0), name);
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

struct Reader {
    std::unordered_map<std::int64_t, std::int64_t> read;  // number -> when; the first time counts
    std::string position;
    std::atomic<std::size_t> rows{0};
    std::atomic<bool> ready{false}, stop{false};

    void got(const char* number) {
        read.emplace(std::atoll(number), now_us());
        rows = read.size();
    }

    void poll_table() {
        Session session;
        if (position.empty()) position = PQgetvalue(session.send(told("FEED_START")).get(), 0, 0);
        const std::string wait = told("FEED_WAIT");
        const std::int64_t longest = std::max<std::int64_t>(std::atoll(told("FEED_LONGEST_PAUSE_US").c_str()), 10000);
        std::int64_t pause = 10000;
        session.prepare("read", told("FEED_READ"));
        if (!wait.empty()) session.prepare("wait", wait);
        while (!stop) {
            const Result batch = session.run("read", position);
            const int count = PQntuples(batch.get());
            for (int i = 0; i < count; ++i) got(PQgetvalue(batch.get(), i, 1));
            if (count > 0) position = PQgetvalue(batch.get(), count - 1, 0);
            ready = true;
            if (wait.empty()) {
                pause = count > 0 ? 10000 : std::min(2 * pause, longest);
                pause_us(pause);
            } else {
                session.run("wait", position);
            }
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
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) die("pipe");
        const pid_t child = fork();
        if (child == 0) {
            dup2(ends[1], 1);
            dup2(open("/dev/null", O_WRONLY), 2);  // it complains when it is ended
            const std::string database = "dbname=" + told("PGDATABASE");
            execlp("pg_recvlogical", "pg_recvlogical", "-d", database.c_str(), "-S", "feed", "--start", "-f", "-",
                   nullptr);
            _exit(127);
        }
        close(ends[1]);
        std::string text;
        char buffer[65536];
        pollfd output{ends[0], POLLIN, 0};
        Session session;
        while (PQntuples(session.send("SELECT FROM pg_replication_slots WHERE active").get()) == 0) {
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
        } else if (kind == "none") {
            ready = true;
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
    // Until it has so many rows, or no new one has come for the seconds.
    void await(std::size_t rows, std::int64_t seconds) {
        std::size_t last = reader_.rows;
        for (std::int64_t since = now_us(); last < rows && now_us() - since < seconds * 1000000; pause_us(1000)) {
            if (reader_.rows != last) since = now_us();
            last = reader_.rows;
        }
    }

private:
    Reader& reader_;
    std::thread thread_;
};

// ---- the writers

struct Row {
    std::int64_t number, committed;
};

struct Writer {
    explicit Writer(int which) : number(which * INT64_C(10000000)), random(static_cast<unsigned>(which)) {
        session.prepare("insert", told("FEED_INSERT"));
    }
    void write_alone(std::int64_t longest_gap) {
        const std::int64_t sent = now_us();
        session.run("insert", std::to_string(++number));
        rows.push_back({number, sent});
        pause_us(static_cast<std::int64_t>(random() % static_cast<unsigned>(longest_gap)));
    }
    void write(std::int64_t longest_pause) {
        session.send(begin);
        session.run("insert", std::to_string(++number));
        if (longest_pause > 0) pause_us(static_cast<std::int64_t>(random() % static_cast<unsigned>(longest_pause)));
        session.send("COMMIT");
        rows.push_back({number, now_us()});
    }
    Session session;
    const std::string begin = told("FEED_BEGIN");
    std::int64_t number;
    std::minstd_rand random;
    std::vector<Row> rows;
};

// ---- what the server uses

// Seconds of CPU that the server's processes have had, those that have ended included.
double cpu_seconds(const std::string& postmaster) {
    double ticks = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string pid = entry.path().filename();
        if (pid[0] < '0' || pid[0] > '9') continue;
        std::ifstream file(entry.path() / "stat");
        std::string stat;
        std::getline(file, stat);
        if (stat.rfind(')') == std::string::npos) continue;
        std::istringstream fields(stat.substr(stat.rfind(')') + 2));
        std::vector<std::string> field;
        for (std::string one; fields >> one;) field.push_back(one);
        // From the state, which is the third field of proc(5): 3 is the parent at [1], 14 to 17 are at [11] to [14].
        if (pid == postmaster) {
            for (std::size_t i = 11; i <= 14; ++i) ticks += std::stod(field[i]);
        } else if (field[1] == postmaster) {
            ticks += std::stod(field[11]) + std::stod(field[12]);
        }
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 8) die("usage: feed_client SECONDS WRITERS LONGEST_PAUSE_US PATIENCE POSTMASTER READERS GAP_US");
    const double seconds = std::atof(argv[1]);
    const int writers = std::atoi(argv[2]);
    const std::int64_t longest_pause = std::atoll(argv[3]), patience = std::atoll(argv[4]);
    const std::string postmaster = argv[5], hold = told("FEED_HOLD");
    const std::int64_t gap = std::atoll(argv[7]);
    Session session, holder;
    std::vector<std::unique_ptr<Writer>> all;
    for (int i = 1; i <= writers; ++i) all.push_back(std::make_unique<Writer>(i));
    const auto wal = [&session] {
        return std::atof(PQgetvalue(session.send("SELECT pg_current_wal_insert_lsn() - '0/0'").get(), 0, 0));
    };
    Reader reader;
    std::vector<Reader> more(static_cast<std::size_t>(std::atoi(argv[6])) - 1);
    std::vector<Row> part1;
    {
        Reading reading(reader);
        std::vector<std::unique_ptr<Reading>> reading_too;
        for (Reader& one : more) reading_too.push_back(std::make_unique<Reading>(one));
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
            if (hold.find("INTO feed") != std::string::npos) part1.push_back({0, now_us()});
        }
        for (auto& writer : all) {
            part1.insert(part1.end(), writer->rows.begin(), writer->rows.end());
            writer->rows.clear();
        }
        std::printf("elapsed\t%.6f\ncpu\t%.6f\nwal\t%.0f\n", elapsed, cpu, wal_bytes);
        reading.await(part1.size(), patience);
        for (auto& one : reading_too) one->await(part1.size(), patience);
        // All at once: one that sleeps notices it only when it wakes.
        reader.stop = true;
        for (Reader& one : more) one.stop = true;
    }
    const std::size_t before = reader.rows;
    std::vector<Row> part2;
    for (auto& writer : all) {
        writer->write(0);
        part2.push_back(writer->rows.back());
    }
    if (writers > 0) Reading(reader).await(before + part2.size(), patience);
    const auto print = [](const Reader& by, const std::vector<Row>& rows, int part) {
        for (const Row& row : rows) {
            const auto read = by.read.find(row.number);
            std::printf("row\t%lld\t%lld\t%s\t%d\n", static_cast<long long>(row.number),
                        static_cast<long long>(row.committed),
                        read == by.read.end() ? "lost" : std::to_string(read->second).c_str(), part);
        }
    };
    print(reader, part1, 1);
    print(reader, part2, 2);
    for (const Reader& one : more) print(one, part1, 1);
}
