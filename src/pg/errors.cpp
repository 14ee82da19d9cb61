// Errors about values. Texts follow PostgreSQL's error style guide.
#include "pg/errors.hpp"

#include <cstring>

extern "C" {
#include "utils/datetime.h"
}

namespace snowflake_ids {

namespace {

struct Row {
    Source source;
    const char* what;
    Error error;  // none: any other
    const char* detail;
};

// The first row that fits is used.
constexpr Row rows[] = {
    {Source::text, "sno", Error::none, "A sno has 16 characters, each one of 2-9 and a-x."},
    {Source::text, "gid", Error::bad_character,
     "A gid has base58 characters on both sides of the dash: digits and letters without 0, O, I and l."},
    {Source::text, "gid", Error::bad_magnitude,
     "The time part must fit 7 bytes; the random part must fit 9 bytes and be at least 2111111111111."},
    {Source::text, "gid", Error::bad_kind,
     "The time part must start with the prefix of a volume (5r to 5t), log (74 to 76) or segment (8H to 8K)."},
    {Source::text, "gid", Error::none, "A gid has 24 characters: 10 for the time, a dash, 13 for the random part."},
    {Source::text, "mastic", Error::id_range, "The mastic must be between 0 and 18446744073709551615."},
    {Source::text, "mastic", Error::none, "A mastic is a decimal number without a sign."},

    {Source::binary, "sno", Error::none, "A sno has 10 bytes."},
    {Source::binary, "gid", Error::bad_kind, "Byte 0 must be 0x80 (volume), 0xA0 (log) or 0xC0 (segment)."},
    {Source::binary, "gid", Error::bad_magnitude,
     "Bytes 7 to 15 must be at least 0x4E900ABB53E6B71000: smaller numbers have fewer than 13 base58 digits."},
    {Source::binary, "gid", Error::none, "A gid has 16 bytes."},
};

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
    if (given.source != Source::text) return nullptr;
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

const char* detail_of(Error error, const Given& given) {
    for (const Row& row : rows)
        if (row.source == given.source && std::strcmp(row.what, given.what) == 0 &&
            (row.error == error || row.error == Error::none))
            return row.detail;
    return "";
}

}  // namespace

void report(Error error, const Given& given, Node* escontext) {
    const bool is_text = given.source == Source::text, out_of_range = error == Error::id_range;
    const char* hint = hint_for_text(given);
    errsave(escontext, (errcode(out_of_range ? ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE
                                : is_text    ? ERRCODE_INVALID_TEXT_REPRESENTATION
                                             : ERRCODE_INVALID_BINARY_REPRESENTATION),
                        errmsg(out_of_range ? "value \"%2$s\" is out of range for type %1$s"
                               : is_text    ? "invalid input syntax for type %s: \"%s\""
                                            : "invalid binary representation of type %s: %s",
                               given.what, given.shown),
                        errdetail("%s", detail_of(error, given)), hint != nullptr ? errhint("%s", hint) : 0));
}

void fail_time(const char* what, const Timeline& timeline, TimestampTz given) {
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                    errmsg("timestamp out of range for %s: \"%s\"", what, show_time(given)),
                    errdetail("%s times run from %s to %s.", what, show_time(timestamptz(timeline.epoch)),
                              show_time(timestamptz(timeline.start(timeline.max_tick()))))));
}

// If you change these words, change convert/src/sql too: check_format() has both, and check_call() the message.
void fail_range(const char* what, int64 given, int64 first, int64 last) {
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("%s out of range: " INT64_FORMAT, what, given),
                    errdetail("The %s must be between " INT64_FORMAT " and " INT64_FORMAT ".", what, first, last)));
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
