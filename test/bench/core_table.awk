# The medians in Google Benchmark's CSV as a Markdown table.
BEGIN {
    print "| operation | ns |"
    print "|---|--:|"
}
match($0, /_median"/) {
    name = substr($0, 2, RSTART - 2)
    rest = substr($0, RSTART + RLENGTH + 1)
    split(rest, field, ",")
    # "NAME/real_time/threads:N": elapsed time per operation of all threads together.
    threads = 1
    if (match(name, /threads:[0-9]+/)) threads = substr(name, RSTART + 8, RLENGTH - 8)
    sub(/\/.*/, "", name)
    printf "| %s%s | %.1f |\n", name, (threads > 1 ? ", " threads " threads" : ""), (threads > 1 ? field[2] * threads : field[3])
}
