// The counter on logs with one planted fault each, and without: its answer differs by that fault only.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "judge.hpp"

namespace storm {

struct Planted {
    using Log = std::vector<std::vector<Record>>;  // by client; the last one is that of the rows

    const char* what;
    std::function<void(Log&)> plant;
    std::uint64_t repeated = 0, limit = 0, disorders = 0, outside = 0, unexpected = 0;
};

inline Record id_record(Type type, Format format, std::uint16_t client, std::uint32_t draw, std::uint64_t tick,
                        std::uint32_t sequence) {
    Record r{type, format, client, draw, {}};
    const auto put = [&](std::size_t at, int n, std::uint64_t v) {
        for (int i = n; i-- > 0; v >>= 8) r.bytes[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(v);
    };
    switch (format) {
        case sno:
            put(0, 5, tick << 1);
            put(6, 2, 1);
            put(8, 2, sequence);
            break;
        case mastic:
            put(0, 8, tick << 16 | sequence);
            break;
        case snowflake_si:
            put(0, 8, tick << 13 | 1 << 8 | (sequence & 0xff));
            break;
        default:
            put(0, 8, tick);
            put(8, 8, sequence);
            break;
    }
    return r;
}

inline Record note_record(Type type, std::uint16_t client, std::uint32_t number_of, const char* text = "") {
    Record r{type, 0, client, number_of, {}};
    std::strncpy(reinterpret_cast<char*>(r.bytes), text, sizeof r.bytes - 1);
    return r;
}

// Three clients on node 1, which is lost, then on node 2. Each draws 40 ids of every format per node and commits
// halfway, so the second half of node 1 is exposed. Row n is client 0's n-th draw.
inline constexpr std::size_t ids_per_node = 40, formats = format_count, before_ids = 1, half = ids_per_node / 2;
inline constexpr std::size_t node_records = 2 + ids_per_node * formats;

inline std::size_t place_of(int node, Format format, std::size_t n) {
    return static_cast<std::size_t>(node - 1) * node_records + before_ids + n * formats + format + (n >= half);
}

inline Planted::Log clean_log() {
    Planted::Log log(4);
    for (std::uint16_t client = 0; client < 3; client++) {
        for (std::uint32_t node = 1; node <= 2; node++) {
            log[client].push_back(note_record(Type::connected, client, node, "primary"));
            for (std::uint32_t n = 0; n < ids_per_node; n++) {
                if (n == half) log[client].push_back(note_record(Type::committed, client, n));
                for (int f = 0; f < format_count; f++) {
                    Record r = id_record(Type::id, static_cast<Format>(f), client, node * 1000 + n, 1000 * node + n,
                                         20 + client);
                    if (f == sno && n % 4 == 3) {
                        r.bytes[5] = 77;
                        set_asked(r, {true, 77, 1});
                    }
                    log[client].push_back(r);
                    if (client != 0 || n >= half) continue;
                    r.type = Type::row;
                    if (f == sno) set_asked(r, {r.bytes[5] != 0, r.bytes[5], 1});
                    log[3].push_back(r);
                }
            }
        }
    }
    return log;
}

inline int self_test() {
    using Log = Planted::Log;
    const auto copy_id = [](Record& to, const Record& from) { std::memcpy(to.bytes, from.bytes, sizeof to.bytes); };
    std::vector<Planted> all = {{"a clean log", [](Log&) {}}};
    for (int f = 0; f < format_count; f++) {
        const auto format = static_cast<Format>(f);
        const bool ordered = format != gid;
        static std::string names[format_count][4];
        const auto name = [&](int i, const std::string& what) {
            names[f][i] = std::string(format_names[f]) + ": " + what;
            return names[f][i].c_str();
        };
        all.push_back({name(0, "an id that two clients of a node have drawn"),
                       [=](Log& log) { copy_id(log[1][place_of(2, format, 5)], log[0][place_of(2, format, 5)]); }, 1});
        all.push_back({name(1, "a row whose id another statement has drawn"),
                       [=](Log& log) {
                           for (Record& r : log[3])
                               if (r.format == format && r.draw == 1003) r.draw = 5;
                       },
                       1});
        all.push_back({name(2, "a covered id of the lost node, drawn again on the next"),
                       [=](Log& log) { copy_id(log[1][place_of(2, format, 0)], log[1][place_of(1, format, 3)]); }, 1, 0,
                       0});
        if (ordered)
            all.push_back({name(3, "an id after a larger one of the same client"),
                           [=](Log& log) { std::swap(log[1][place_of(2, format, 6)], log[1][place_of(2, format, 8)]); },
                           0, 0, 2});
    }
    all.push_back({"an exposed id, drawn again on the next node: the limit, counted apart",
                   [&](Log& log) { copy_id(log[1][place_of(2, mastic, 0)], log[1][place_of(1, mastic, half + 3)]); }, 0,
                   1});
    all.push_back({"an exposed id, drawn twice on the lost node",
                   [&](Log& log) { copy_id(log[1][place_of(1, gid, half + 3)], log[0][place_of(1, gid, half + 3)]); },
                   1});
    const auto outside = [&](const char* what, Format format, std::function<void(Record&)> change) {
        all.push_back({what, [=](Log& log) { change(log[0][place_of(2, format, 30)]); }, 0, 0, 0, 1});
    };
    outside("sno: a sequence number below the smallest", sno, [](Record& r) { r.bytes[8] = 0, r.bytes[9] = 9; });
    outside("sno: a sequence number above the largest", sno, [](Record& r) { r.bytes[8] = 0xfe; });
    outside("sno: a metabyte that nobody asked for", sno, [](Record& r) { r.bytes[5] = 1; });
    outside("sno: a machine id that was never set", sno, [](Record& r) { r.bytes[7] = 4; });
    outside("sno: another partition than was asked for", sno, [](Record& r) { set_asked(r, {true, r.bytes[5], 2}); });
    outside("sno: another metabyte than was asked for", sno, [](Record& r) { set_asked(r, {true, 78, 1}); });
    outside("snowflake_si: a machine id that was never set", snowflake_si, [](Record& r) { r.bytes[6] += 4; });
    all.push_back({"an error that no fault explains",
                   [](Log& log) { log[0].push_back(note_record(Type::failed, 0, 7, "XX000")); }, 0, 0, 0, 0, 1});
    all.push_back({"an error that a fault explains",
                   [](Log& log) { log[0].push_back(note_record(Type::failed, 0, 7, "57P01")); }});

    char dir[] = "/tmp/storm-count.XXXXXX";
    if (mkdtemp(dir) == nullptr) die("cannot make a directory");
    int failed = 0;
    for (std::size_t n = 0; n < all.size(); n++) {
        Log log = clean_log();
        all[n].plant(log);
        std::filesystem::create_directory(std::string(dir) + "/ids");
        for (std::size_t i = 0; i < log.size(); i++) {
            Writer out(std::string(dir) + "/ids/" + (i < 3 ? "client-" + std::to_string(i) : "rows"));
            for (const Record& r : log[i]) out.write(r);
        }
        Judge judge;
        judge.quiet = true;
        judge.lossy.insert(1);
        judge.run(dir);
        std::filesystem::remove_all(std::string(dir) + "/ids");

        const Planted& p = all[n];
        const std::uint64_t ids = 3 * 2 * ids_per_node * formats, repeated = sum(judge.repeated),
                            limit = sum(judge.limit);
        const bool ok = repeated == p.repeated && limit == p.limit && judge.disorders == p.disorders &&
                        judge.outside == p.outside && judge.unexpected == p.unexpected && sum(judge.received) == ids &&
                        judge.exposed > 0;
        std::printf("%sok %zu - %s\n", ok ? "" : "not ", n + 1, p.what);
        if (ok) continue;
        failed = 1;
        std::printf(
            "# repeated %lu, limit %lu, disorders %lu, outside %lu, unexpected %lu, received %lu, exposed %lu\n",
            repeated, limit, judge.disorders, judge.outside, judge.unexpected, sum(judge.received), judge.exposed);
    }
    std::filesystem::remove_all(dir);
    std::printf("1..%zu\n", all.size());
    return failed;
}

}  // namespace storm
