// The table of errors. Texts follow PostgreSQL's error style guide.
#include "pg/errors.hpp"

#include <cstring>

extern "C" {
#include "utils/datetime.h"
}

namespace snowflake_ids {

namespace {

struct Row {
    Error error;
    Source source;
    const char* what;  // null: for any
    int sqlstate;
    const char* message;  // a format for what and shown
    const char* detail;   // a format for what, first and last; null: none
};

constexpr const char* syntax = "invalid input syntax for type %s: \"%s\"";
constexpr const char* binary = "invalid binary representation of type %s: %s";
// If you change these words, change convert/src/sql too: check_format() has both, and check_call() has `range`.
constexpr const char* range = "%s out of range: %s";
constexpr const char* range_detail = "The %s must be between %s and %s.";

constexpr const char* sno_text = "A sno has 16 characters, each one of 2-9 and a-x.";
constexpr const char* gid_length = "A gid has 24 characters: 10 for the time, a dash, 13 for the random part.";
constexpr const char* mastic_text = "A mastic is a decimal number without a sign.";

constexpr int bad_text = ERRCODE_INVALID_TEXT_REPRESENTATION;
constexpr int bad_binary = ERRCODE_INVALID_BINARY_REPRESENTATION;
constexpr int bad_number = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
constexpr int bad_time = ERRCODE_DATETIME_VALUE_OUT_OF_RANGE;
constexpr int bad_argument = ERRCODE_INVALID_PARAMETER_VALUE;

// The first row that fits is used, so rows for one type come before rows for any.
constexpr Row rows[] = {
    {Error::bad_length, Source::text, "sno", bad_text, syntax, sno_text},
    {Error::bad_character, Source::text, "sno", bad_text, syntax, sno_text},
    {Error::bad_length, Source::text, "gid", bad_text, syntax, gid_length},
    {Error::bad_separator, Source::text, "gid", bad_text, syntax, gid_length},
    {Error::bad_character, Source::text, "gid", bad_text, syntax,
     "A gid has base58 characters on both sides of the dash: digits and letters without 0, O, I and l."},
    {Error::bad_magnitude, Source::text, "gid", bad_text, syntax,
     "The time part must fit 7 bytes; the random part must fit 9 bytes and be at least 2111111111111."},
    {Error::bad_kind, Source::text, "gid", bad_text, syntax,
     "The time part must start with the prefix of a volume (5r to 5t), log (74 to 76) or segment (8H to 8K)."},
    {Error::bad_length, Source::text, "mastic", bad_text, syntax, mastic_text},
    {Error::bad_character, Source::text, "mastic", bad_text, syntax, mastic_text},
    {Error::id_range, Source::text, "mastic", bad_number, "value \"%2$s\" is out of range for type %1$s",
     "The mastic must be between 0 and 18446744073709551615."},

    {Error::bad_length, Source::binary, "sno", bad_binary, binary, "A sno has 10 bytes."},
    {Error::bad_length, Source::binary, "gid", bad_binary, binary, "A gid has 16 bytes."},
    {Error::bad_kind, Source::binary, "gid", bad_binary, binary,
     "Byte 0 must be 0x80 (volume), 0xA0 (log) or 0xC0 (segment)."},
    {Error::bad_magnitude, Source::binary, "gid", bad_binary, binary,
     "Bytes 7 to 15 must be at least 0x4E900ABB53E6B71000: smaller numbers have fewer than 13 base58 digits."},

    {Error::bad_kind, Source::argument, nullptr, bad_argument, "unrecognized %s: \"%s\"",
     "The kinds are volume, log and segment."},
    {Error::bad_kind, Source::modifier, nullptr, bad_argument, "wrong kind of id for type %s: \"%s\"",
     "%s accepts only ids of kind %s, but this is a %s id."},
    {Error::bad_length, Source::modifier, nullptr, bad_argument, "invalid type modifier for type %s",
     "The modifiers are gid(volume), gid(log) and gid(segment)."},

    {Error::time_before_epoch, Source::argument, nullptr, bad_time, "timestamp out of range for %s: \"%s\"",
     "%s times run from %s to %s."},
    {Error::time_after_end, Source::argument, nullptr, bad_time, "timestamp out of range for %s: \"%s\"",
     "%s times run from %s to %s."},

    {Error::id_range, Source::argument, nullptr, bad_number, range, range_detail},
    {Error::metabyte_range, Source::argument, nullptr, bad_number, range, range_detail},
    {Error::node_range, Source::argument, nullptr, bad_number, range, range_detail},
    {Error::sequence_range, Source::argument, nullptr, bad_number, range, range_detail},
    {Error::ticktock_range, Source::argument, nullptr, bad_number, range, range_detail},
    {Error::bad_width, Source::argument, nullptr, bad_number, range, range_detail},

    {Error::bad_total_width, Source::argument, nullptr, bad_argument, "%s too wide: %s bits",
     "Timestamp, node and sequence may have at most 63 bits together."},
    {Error::bad_tick, Source::argument, nullptr, bad_argument, "invalid %s: \"%s\"",
     "The tick must be at least one microsecond, and a time without days or months."},
    {Error::bad_epoch, Source::argument, nullptr, bad_argument, "invalid %s: \"%s\"",
     "The first and the last time of a layout must be times that a timestamptz can hold."},

    {Error::bad_length, Source::argument, "random", bad_argument, "invalid %s part for gid: %s",
     "The random part has 8 bytes."},
};

constexpr Row fallback{Error::none, Source::argument, nullptr, bad_argument, "invalid %s: \"%s\"", nullptr};

// PostgreSQL reads an untyped literal next to an id as an id too, so input functions get times.
bool looks_like_time(const char* text) {
    while (*text == ' ') text++;
    static constexpr const char* words[] = {"now", "today", "yesterday", "tomorrow", "infinity", "-infinity", "epoch"};
    for (const char* word : words)
        if (pg_strcasecmp(text, word) == 0) return true;
    // Three numbers with one sign between them, then the end or a time of day.
    constexpr const char* digits = "0123456789";
    std::size_t n = std::strspn(text, digits);
    const char sign = text[n];
    if (n == 0 || n > 6 || (sign != '-' && sign != '/' && sign != '.')) return false;
    for (int number = 2; number <= 3; number++) {
        text += n + 1;
        n = std::strspn(text, digits);
        if (n == 0 || n > 6 || (number == 2 && text[n] != sign)) return false;
    }
    return text[n] == '\0' || text[n] == ' ' || text[n] == 'T' || text[n] == 't';
}

// \x and pairs of hexadecimal digits, as drivers send bytes.
bool looks_like_bytes(const char* text) {
    if (text[0] != '\\' || text[1] != 'x') return false;
    const std::size_t length = std::strlen(text + 2);
    return length > 0 && length % 2 == 0 && std::strspn(text + 2, "0123456789abcdefABCDEF") == length;
}

const char* hint_for_text(const Given& given) {
    if (given.source != Source::text || given.shown == nullptr) return nullptr;
    // Bytes can be cast to these two types only.
    if (looks_like_bytes(given.shown) && (std::strcmp(given.what, "sno") == 0 || std::strcmp(given.what, "gid") == 0))
        return psprintf("To read the bytes of a %1$s, write '\\x...'::bytea::%1$s, or $1::bytea::%1$s for a parameter.",
                        given.what);
    if (!looks_like_time(given.shown)) return nullptr;
    const bool quotable = std::strlen(given.shown) <= 40 && std::strpbrk(given.shown, "'\\") == nullptr;
    // Gids begin with their kind, so no operator compares them with times. For other types one does, but the bound of a
    // table partition must be an id.
    const bool in_order = std::strcmp(given.what, "gid") != 0;
    return psprintf(
        in_order
            ? "To compare an id with a time, write timestamptz '%1$s', or $1::timestamptz for a parameter. In the bound of a partition, write %2$s_lower_bound('%1$s')."
            : "To find gids by time, compare them with gid_lower_bound('log', '%1$s'). Instead of log, write the kind of your ids.",
        quotable ? given.shown : "...", given.what);
}

const Row& find(Error error, const Given& given) {
    for (const Row& row : rows)
        if (row.error == error && row.source == given.source &&
            (row.what == nullptr || std::strcmp(row.what, given.what) == 0))
            return row;
    return fallback;
}

}  // namespace

void report(Error error, const Given& given, Node* escontext) {
    const Row& row = find(error, given);
    const char* shown = given.shown == nullptr ? "" : given.shown;
    const char* hint = hint_for_text(given);
    // A detail with placeholders needs a range.
    const bool detail = row.detail != nullptr && (given.first != nullptr || std::strchr(row.detail, '%') == nullptr);
    errsave(escontext, (errcode(row.sqlstate), errmsg(row.message, given.what, shown),
                        detail ? errdetail(row.detail, given.what, given.first, given.last) : 0,
                        hint != nullptr ? errhint("%s", hint) : 0));
}

void fail_time(Error error, const char* what, const Timeline& timeline, TimestampTz given) {
    report(error, {Source::argument, what, show_time(given), show_time(timestamptz(timeline.epoch)),
                   show_time(timestamptz(timeline.start(timeline.max_tick())))});
    pg_unreachable();
}

void fail_range(Error error, const char* what, int64 given, int64 first, int64 last) {
    report(error, {Source::argument, what, psprintf(INT64_FORMAT, given), psprintf(INT64_FORMAT, first),
                   psprintf(INT64_FORMAT, last)});
    pg_unreachable();
}

char* show_time(TimestampTz t) {
    char* out = static_cast<char*>(palloc(MAXDATELEN + 1));
    struct pg_tm tm;
    fsec_t fsec;
    if (TIMESTAMP_NOT_FINITE(t))
        EncodeSpecialTimestamp(t, out);
    else if (timestamp2tm(t, nullptr, &tm, &fsec, nullptr, nullptr) == 0) {
        tm.tm_isdst = 0;  // the offset is known: print it
        EncodeDateTime(&tm, fsec, true, 0, nullptr, USE_ISO_DATES, out);
    } else
        strlcpy(out, "?", MAXDATELEN + 1);
    return out;
}

char* show_bytes(const unsigned char* bytes, std::size_t length) {
    constexpr std::size_t most = 32;
    const std::size_t n = length < most ? length : most;
    char* out = static_cast<char*>(palloc(2 + 2 * most + 4));
    memcpy(out, "\\x", 2);
    char* const end = out + 2 + hex_encode(reinterpret_cast<const char*>(bytes), n, out + 2);
    strlcpy(end, n < length ? "..." : "", 4);
    return out;
}

}  // namespace snowflake_ids
