// client: draws ids in every way until SIGTERM, and writes down each id before it looks at the next one.
//
// usage: client DIR NUMBER LINK      LINK: the symlink in DIR to the directory nodes/N of the present server
//        client DIR rows             the ids of all rows that survived
//
// N is written down at each connection, because ids are judged by their node.
#include <libpq-fe.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <random>
#include <string>
#include <vector>

#include "record.hpp"

namespace {

using namespace storm;

volatile sig_atomic_t stop = 0;
bool wait_was_cancelled = false;

struct Client {
    std::string dir, link;
    std::uint16_t number = 0;
    Writer out;
    std::mt19937_64 random;
    PGconn* connection = nullptr;
    std::uint32_t draw = 0;
    std::vector<std::string> prepared;
    Asked asked;

    Client(std::string d, const std::string& file, std::string l, std::uint16_t n)
        : dir(std::move(d)), link(std::move(l)), number(n), out(dir + "/ids/" + file), random(n + 1u) {}

    unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }
    bool one_in(unsigned n) { return below(n) == 0; }

    void note(Type type, std::uint32_t number_of, const char* text = "") {
        Record r{type, 0, number, number_of, {}};
        std::strncpy(reinterpret_cast<char*>(r.bytes), text, sizeof r.bytes - 1);
        out.write(r);
    }

    void note_failure(const char* sqlstate, const std::string& message) {
        const auto has = [&](const char* s) { return message.find(s) != std::string::npos; };
        const std::string state = sqlstate != nullptr ? sqlstate : "";
        if (state.empty()) {
            const bool known = has("server closed the connection") || has("No such file") ||
                               has("Connection refused") || has("no connection to the server") ||
                               has("Connection reset") || has("could not receive data") || has("could not send data") ||
                               has("SSL") || has("terminating connection");
            const bool starting = has("starting up") || has("shutting down") || has("in recovery mode") ||
                                  has("not yet accepting connections") || has("recovery state");
            note(Type::failed, draw, known ? "lost" : starting ? "57P03" : "??");
            if (!known && !starting) std::fprintf(stderr, "client %d: %s", number, message.c_str());
            return;
        }
        const bool regression = has("the clock is behind the last id"), recovery = has("during recovery");
        const bool other = state == "55000" && !regression && !recovery;
        note(Type::failed, draw,
             (state + (other              ? "?"
                       : state != "55000" ? ""
                       : recovery         ? " recovery"
                       : regression       ? " clock"
                                          : ""))
                 .c_str());
        static const char* const expected[] = {"57P01", "57P02", "57P03", "57014", "55000", "55P03", "25006"};
        bool known = false;
        for (const char* s : expected) known |= state == s;
        if (!known || other) std::fprintf(stderr, "client %d: %s: %s", number, state.c_str(), message.c_str());
    }

    bool connect() {
        char node[512];
        const ssize_t n = readlink((dir + "/" + link).c_str(), node, sizeof node - 1);
        if (n <= 0) return false;
        node[n] = 0;
        const std::string info = "user=storm dbname=postgres connect_timeout=10 host=" + std::string(node);
        connection = PQconnectdb(info.c_str());
        if (PQstatus(connection) != CONNECTION_OK) {
            note_failure(nullptr, PQerrorMessage(connection));
            disconnect();
            return false;
        }
        PQsetNoticeProcessor(
            connection,
            [](void*, const char* message) {
                if (std::strstr(message, "synchronous replication") != nullptr) wait_was_cancelled = true;
            },
            nullptr);
        note(Type::connected, static_cast<std::uint32_t>(std::atoi(std::strrchr(node, '/') + 1)), link.c_str());
        find_prepared();
        return true;
    }

    // Prepared, and not known to be committed, when the last connection ended.
    void find_prepared() {
        prepared.clear();
        const std::string sql =
            "SELECT quote_literal(gid) FROM pg_prepared_xacts WHERE gid LIKE 'c" + std::to_string(number) + "\\_%'";
        PGresult* result = PQexec(connection, sql.c_str());
        for (int row = 0; row < PQntuples(result); row++) prepared.emplace_back(PQgetvalue(result, row, 0));
        PQclear(result);
    }

    void disconnect() {
        PQfinish(connection);
        connection = nullptr;
    }

    void write_ids(const PGresult* result, int format) {
        for (int row = 0; row < PQntuples(result); row++) {
            Record r{Type::id, static_cast<std::uint8_t>(format), number, draw, {}};
            if (static_cast<std::size_t>(PQgetlength(result, row, 0)) != id_size[format]) die("an id of another size");
            std::memcpy(r.bytes, PQgetvalue(result, row, 0), id_size[format]);
            if (format == sno) set_asked(r, asked);
            out.write(r);
        }
    }

    // Row by row, so that what a dying server sent counts. `format` -1: no ids.
    bool run(const std::string& sql, int format = -1) {
        if (!PQsendQueryParams(connection, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1)) {
            note_failure(nullptr, PQerrorMessage(connection));
            return false;
        }
        PQsetSingleRowMode(connection);
        bool ok = true;
        while (PGresult* result = PQgetResult(connection)) {
            const ExecStatusType status = PQresultStatus(result);
            if (status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE) {
                if (format >= 0) write_ids(result, format);
            } else if (status != PGRES_COMMAND_OK) {
                ok = false;
                const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
                note_failure(state, PQresultErrorMessage(result));
            }
            PQclear(result);
        }
        return ok;
    }

    // Its acknowledged commit covers all that was received before it.
    bool run_writing(const std::string& sql, int format = -1) {
        wait_was_cancelled = false;
        const bool ok = run(sql, format);
        if (ok && !wait_was_cancelled) note(Type::committed, draw);
        return ok && !wait_was_cancelled;
    }

    std::string values() { return "VALUES (" + std::to_string(number) + ", " + std::to_string(draw) + ")"; }

    void one_statement() {
        const int format = static_cast<int>(below(10) == 0 ? unsigned{gid} : below(3));
        const std::string name = format_names[format];
        const std::string arguments = format == gid ? "('log')" : "()";
        const std::string table = "ids_" + name;
        // Sometimes more than a Snowflake-SI millisecond or a small sno pool has.
        const unsigned many = one_in(12) ? 1 + below(3000) : 1 + below(30);
        draw++;
        switch (below(20)) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4:
                run("SELECT gen_" + name + arguments, format);
                break;
            case 5:
            case 6:
            case 7:
            case 8:
                run("SELECT gen_" + name + arguments + " FROM generate_series(1, " + std::to_string(many) + ")",
                    format);
                break;
            case 9:  // in a partition of its own, or in that of the setting
                asked = {true, static_cast<std::uint8_t>(below(256)), static_cast<std::uint16_t>(1 + below(5))};
                run("SELECT gen_sno(" + std::to_string(asked.metabyte) + ", " + std::to_string(asked.partition) +
                        ") FROM generate_series(1, " + std::to_string(many) + ")",
                    sno);
                asked = {};
                break;
            case 10:
            case 11:
            case 12:
            case 13:
                run_writing("INSERT INTO " + table + " (client, draw) " + values() + " RETURNING id", format);
                break;
            case 14:
            case 15:
                run_writing("INSERT INTO " + table + " (client, draw) SELECT c, d FROM (" + values() +
                                ") v (c, d), generate_series(1, " + std::to_string(1 + below(20)) + ") RETURNING id",
                            format);
                break;
            case 16:  // ids that no client ever sees
                run_writing("INSERT INTO " + table + " (client, draw) " + values());
                break;
            case 17:  // in a transaction, which may not come to its end
                if (!run("BEGIN")) break;
                if (run("INSERT INTO " + table + " (client, draw) " + values() + " RETURNING id", format) &&
                    run("SELECT gen_" + name + arguments, format) && !one_in(3)) {
                    run_writing("COMMIT");
                } else if (PQstatus(connection) == CONNECTION_OK) {
                    run("ROLLBACK");
                }
                break;
            case 18: {  // prepared now, committed later, perhaps on another server
                if (prepared.size() >= 5 || !run("BEGIN")) break;
                const std::string id = "'c" + std::to_string(number) + "_" + std::to_string(draw) + "'";
                if (run("INSERT INTO " + table + " (client, draw) " + values() + " RETURNING id", format)) {
                    if (run_writing("PREPARE TRANSACTION " + id)) prepared.push_back(id);
                } else if (PQstatus(connection) == CONNECTION_OK) {
                    run("ROLLBACK");
                }
                break;
            }
            case 19:
                if (prepared.empty()) break;
                run_writing("COMMIT PREPARED " + prepared.back());
                prepared.pop_back();
                break;
        }
    }

    void live() {
        while (stop == 0) {
            if (connection == nullptr && !connect()) {
                usleep(20000 + below(30000));
                continue;
            }
            one_statement();
            if (PQstatus(connection) != CONNECTION_OK || one_in(300)) disconnect();
            if (!one_in(4)) usleep(below(25000));
        }
        disconnect();
    }

    void write_rows() {
        if (!connect()) die("no server for the rows");
        for (int format = 0; format < format_count; format++) {
            const std::string sql = std::string("SELECT id, client, draw FROM ids_") + format_names[format];
            PQsendQueryParams(connection, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1);
            PQsetSingleRowMode(connection);
            while (PGresult* result = PQgetResult(connection)) {
                const ExecStatusType status = PQresultStatus(result);
                if (status != PGRES_TUPLES_OK && status != PGRES_SINGLE_TUPLE) die(PQresultErrorMessage(result));
                for (int row = 0; row < PQntuples(result); row++) {
                    Record r{Type::row,
                             static_cast<std::uint8_t>(format),
                             static_cast<std::uint16_t>(number_at(result, row, 1)),
                             number_at(result, row, 2),
                             {}};
                    std::memcpy(r.bytes, PQgetvalue(result, row, 0), id_size[format]);
                    out.write(r);
                }
                PQclear(result);
            }
        }
        disconnect();
    }

    static std::uint32_t number_at(const PGresult* result, int row, int column) {
        const auto* p = reinterpret_cast<const unsigned char*>(PQgetvalue(result, row, column));
        return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string(argv[2]) == "rows") {
        Client(argv[1], "rows", "primary", 65535).write_rows();
        return 0;
    }
    if (argc != 4) die("usage: client DIR NUMBER LINK | client DIR rows");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action = {};
    action.sa_handler = [](int) { stop = 1; };
    sigaction(SIGTERM, &action, nullptr);
    Client(argv[1], "client-" + std::string(argv[2]), argv[3], static_cast<std::uint16_t>(std::atoi(argv[2]))).live();
    return 0;
}
