// Makes the rows of a file (sno*.tsv, given by name and as input) again with the reference. Heads, labels and inputs are
// those of the file.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/muyo/sno"
	"github.com/muyo/sno/internal"
)

const unitMs, epochMs = 4, sno.Epoch * 1000

type row map[string]string

func (r row) number(name string) int64 {
	n, err := strconv.ParseInt(r[name], 10, 64)
	check(err)
	return n
}

func (r row) bytes(name string) []byte {
	b, err := hex.DecodeString(strings.Trim(r[name], "-"))
	check(err)
	return b
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var again func(row)
	switch os.Args[1] {
	case "sno.tsv":
		again = value
	case "sno_invalid.tsv":
		again = invalid
	case "sno_partition.tsv":
		again = partition
	case "sno_trace.tsv":
		again = new(trace).row
	case "partitions":
		one, _ := sno.NewGenerator(nil, nil)
		two, _ := sno.NewGenerator(nil, nil)
		global := sno.New(0)
		fmt.Println(global.Partition().AsUint16(), one.Partition().AsUint16(), two.Partition().AsUint16())
		return
	case "contended":
		contended()
		return
	}
	in := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var columns []string
	for in.Scan() {
		line := in.Text()
		if columns == nil || strings.HasPrefix(line, "#") {
			if !strings.HasPrefix(line, "#") {
				columns = strings.Split(line, "\t")
			}
			fmt.Fprintln(out, line)
			continue
		}
		r := row{}
		for i, field := range strings.Split(line, "\t") {
			r[columns[i]] = field
		}
		again(r)
		var fields []string
		for _, column := range columns {
			fields = append(fields, r[column])
		}
		fmt.Fprintln(out, strings.Join(fields, "\t"))
	}
	check(in.Err())
}

// ---- values

func value(r row) {
	var id sno.ID
	var err error
	clock := uint64(0)
	sno.Clock = func() uint64 { return clock }
	switch r["origin"] {
	case "binary":
		id, err = sno.FromBinaryBytes(r.bytes("bin_hex"))
	case "text":
		id, err = sno.FromEncodedString(r["text"])
	case "new_with_time":
		// The first and the last nanosecond of the unit give the same ID.
		start := time.UnixMilli(r.number("unix_ms"))
		id = ofTime(r, start)
		if ofTime(r, start.Add(unitMs*time.Millisecond-1)) != id {
			panic("the time is not rounded down")
		}
	case "new":
		g := generator(r, uint32(r.number("ticktock")))
		clock = uint64(r.number("unix_ms")-epochMs) / unitMs
		for id = g.New(byte(r.number("metabyte"))); int64(id.Sequence()) < r.number("sequence"); {
			id = g.New(byte(r.number("metabyte")))
		}
	}
	check(err)
	binary, err := id.MarshalBinary()
	check(err)
	text, err := id.MarshalText()
	check(err)
	quoted, err := id.MarshalJSON()
	check(err)
	r["bin_hex"] = hex.EncodeToString(binary)
	r["text"] = id.String()
	if string(text) != id.String() {
		panic("MarshalText and String differ")
	}
	r["unix_ms"] = fmt.Sprint(id.Timestamp() / 1e6)
	r["iso_utc"] = id.Time().UTC().Format("2006-01-02T15:04:05.000Z")
	r["units"] = fmt.Sprint((id.Timestamp()/1e6 - epochMs) / unitMs)
	r["ticktock"] = fmt.Sprint(id[4] & 1)
	r["metabyte"] = fmt.Sprint(id.Meta())
	r["partition"] = fmt.Sprint(id.Partition().AsUint16())
	r["sequence"] = fmt.Sprint(id.Sequence())
	r["json"] = string(quoted)
	u := hex.EncodeToString(text)
	r["text_as_uuid"] = strings.Join([]string{u[:8], u[8:12], u[12:16], u[16:20], u[20:]}, "-")
}

// The lowest bound with which a generator of the least size can reach the sequence.
func least(r row) uint16 {
	if n := r.number("sequence"); n < 65530 {
		return uint16(n)
	}
	return 65530
}

func generator(r row, drifts uint32) *sno.Generator {
	snapshot := sno.GeneratorSnapshot{SequenceMin: least(r), SequenceMax: sno.MaxSequence, Drifts: drifts}
	snapshot.Partition.PutUint16(uint16(r.number("partition")))
	g, err := sno.NewGenerator(&snapshot, nil)
	check(err)
	return g
}

func ofTime(r row, t time.Time) (id sno.ID) {
	g := generator(r, 0)
	for n := int64(least(r)); n <= r.number("sequence"); n++ {
		id = g.NewWithTime(byte(r.number("metabyte")), t)
	}
	return id
}

// ---- inputs that are no snos

func invalid(r row) {
	input := r.bytes("input_hex")
	read := func(vectors bool) (id sno.ID, err error) {
		internal.UseVectors(vectors)
		switch r["kind"] {
		case "text":
			id, err = sno.FromEncodedString(string(input))
		case "binary":
			id, err = sno.FromBinaryBytes(input)
		case "json":
			err = id.UnmarshalJSON(input)
		case "scan_bytes":
			err = id.Scan(input)
		case "scan_string":
			err = id.Scan(string(input))
		}
		return id, err
	}
	fast, err := read(true)
	slow, slowErr := read(false)
	if (err == nil) != (slowErr == nil) {
		panic("one codec refuses what the other reads")
	}
	r["input_q"] = strconv.Quote(string(input))
	if err != nil {
		r["ref"], r["ref_detail"] = "rejected", err.Error()
	} else {
		r["ref"], r["ref_detail"] = "garbage", fmt.Sprintf("vec=%x fb=%x", fast[:], slow[:])
	}
}

// ---- partitions of generators without a snapshot: the clock at the start of a process decides

func partition(r row) {
	self := exec.Command(os.Args[0], "partitions")
	self.Env = append(os.Environ(), "SNO_UNITS="+r["init_units"])
	said, err := self.Output()
	check(err)
	three := strings.Fields(string(said))
	r["global"], r["default_1"], r["default_2"] = three[0], three[1], three[2]
}

// ---- a generator under a scripted clock

type trace struct {
	g     *sno.Generator
	given map[sno.ID]string // without the metabyte: the step that gave it last
}

func units(ms int64) uint64 {
	return uint64((ms-epochMs)*1e6) / sno.TimeUnit // unsigned, as in the reference
}

func (t *trace) row(r row) {
	if r["op"] == "create" {
		*t = trace{given: map[sno.ID]string{}}
	}
	var id sno.ID
	generated := false
	for _, column := range []string{"outcome", "return_ms", "ts_ms", "ticktock", "sequence", "bin_hex", "text", "arg2"} {
		r[column] = ""
	}
	r["outcome"] = "ok"
	now, reads := uint64(0), 0
	if r["clock_ms"] != "" {
		now = units(r.number("clock_ms"))
	}
	start := now
	// A call that reads the clock again waits; by then, the next unit has begun.
	sno.Clock = func() uint64 {
		if reads++; reads > 1 {
			now++
		}
		return now
	}
	give := func(next sno.ID) {
		id, generated = next, true
		plain := next
		plain[5] = 0
		if step, twice := t.given[plain]; twice {
			r["arg2"] = "ref_repeats_step=" + step
		}
		t.given[plain] = r["step"]
	}
	switch r["op"] {
	case "create", "restore":
		var s sno.GeneratorSnapshot
		check(json.Unmarshal([]byte(r["arg"]), &s))
		g, err := sno.NewGenerator(&s, nil)
		t.g = g
		if err != nil {
			r["outcome"], r["arg2"] = "error", err.Error()
		}
	case "snapshot":
		s, err := json.Marshal(t.g.Snapshot())
		check(err)
		r["arg"] = string(s)
	case "new":
		before := t.g.Snapshot().WallHi
		reads = 0
		give(t.g.New(byte(r.number("meta"))))
		if reads > 1 && uint64(before) == start {
			r["outcome"] = "wait_overflow"
		} else if reads > 1 {
			r["outcome"] = "wait_regress"
		}
	case "burn":
		for n := r.number("arg"); n > 0; n-- {
			reads = 0
			give(t.g.New(byte(r.number("meta"))))
		}
	case "nwt":
		give(t.g.NewWithTime(byte(r.number("meta")), time.UnixMilli(r.number("clock_ms"))))
	}
	if generated {
		r["return_ms"] = r["clock_ms"]
		if now != start {
			r["return_ms"] = fmt.Sprint(epochMs + int64(now)*unitMs)
		}
		r["ts_ms"] = fmt.Sprint(id.Timestamp() / 1e6)
		r["ticktock"] = fmt.Sprint(id[4] & 1)
		r["sequence"] = fmt.Sprint(id.Sequence())
		r["bin_hex"] = hex.EncodeToString(id[:])
		r["text"] = id.String()
	}
	r["wall_hi_ms"], r["wall_safe_ms"], r["drifts"], r["seq_state"] = "0", "0", "0", "0"
	if t.g != nil {
		s := t.g.Snapshot()
		ms := func(units int64) string {
			if units == 0 {
				return "0"
			}
			return fmt.Sprint(epochMs + units*unitMs)
		}
		r["wall_hi_ms"], r["wall_safe_ms"] = ms(s.WallHi), ms(s.WallSafe)
		r["drifts"], r["seq_state"] = fmt.Sprint(s.Drifts), fmt.Sprint(t.g.Counter())
	}
}

// ---- eight callers of one generator, by the real clock: how many IDs came twice

func contended() {
	sno.Clock = internal.Snotime
	seconds, err := strconv.Atoi(os.Args[2])
	check(err)
	g, err := sno.NewGenerator(&sno.GeneratorSnapshot{}, nil)
	check(err)
	const callers = 8
	ids := make(chan []sno.ID, callers)
	total, twice := 0, 0
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		for n := 0; n < callers; n++ {
			go func() {
				some := make([]sno.ID, 200000)
				for i := range some {
					some[i] = g.New(0)
				}
				ids <- some
			}()
		}
		seen := make(map[sno.ID]bool, callers*200000)
		for n := 0; n < callers; n++ {
			for _, id := range <-ids {
				if total++; seen[id] {
					twice++
				}
				seen[id] = true
			}
		}
	}
	fmt.Printf("%d IDs, %d twice\n", total, twice)
}
