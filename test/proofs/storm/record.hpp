// What clients write down as they receive it: fixed records, appended to a file each.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace storm {

enum class Type : std::uint8_t {
    id,         // received
    row,        // found in a table in the end
    connected,  // to node `draw`, through the link in the bytes
    committed,  // a commit was acknowledged that had begun after everything before was received
    failed,     // SQLSTATE or similar in the bytes
};

enum Format : std::uint8_t { sno, mastic, snowflake_si, gid, format_count };
inline constexpr const char* format_names[] = {"sno", "mastic", "snowflake_si", "gid"};
inline constexpr std::size_t id_size[] = {10, 8, 8, 16};

inline constexpr std::uint32_t sno_sequence_min = 10, sno_sequence_max = 65000;
inline constexpr std::uint32_t max_machine_id = 3;

struct Record {
    Type type;
    std::uint8_t format;
    std::uint16_t client;
    std::uint32_t draw;  // number of the client's statement; rows have it in a column
    std::uint8_t bytes[16];
};
static_assert(sizeof(Record) == 24);

struct Asked {
    bool explicitly = false;
    std::uint8_t metabyte = 0;
    std::uint16_t partition = 0;
};
inline void set_asked(Record& r, const Asked& a) {
    r.bytes[12] = a.explicitly;
    r.bytes[13] = a.metabyte;
    r.bytes[14] = static_cast<std::uint8_t>(a.partition >> 8);
    r.bytes[15] = static_cast<std::uint8_t>(a.partition);
}
inline Asked asked_of(const Record& r) {
    return {r.bytes[12] != 0, r.bytes[13], static_cast<std::uint16_t>(r.bytes[14] << 8 | r.bytes[15])};
}

[[noreturn]] inline void die(const std::string& what) {
    std::fprintf(stderr, "storm: %s\n", what.c_str());
    std::exit(3);
}

class Writer {
public:
    explicit Writer(const std::string& path) : file_(std::fopen(path.c_str(), "ab")) {
        if (file_ == nullptr) die("cannot write " + path);
        std::setvbuf(file_, nullptr, _IOFBF, 1 << 16);
    }
    ~Writer() {
        if (std::fclose(file_) != 0) die("cannot write the ids");
    }
    void write(const Record& r) {
        if (std::fwrite(&r, sizeof r, 1, file_) != 1) die("cannot write the ids");
    }

private:
    std::FILE* file_;
};

}  // namespace storm
