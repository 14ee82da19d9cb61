// lib/pq.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"time"

	"github.com/lib/pq"
)

func main() {
	db, err := sql.Open("postgres", "sslmode=disable") // where PGHOST, PGPORT, PGUSER and PGDATABASE say
	if err != nil {
		log.Fatal(err)
	}
	found := func(query string, values ...any) bool {
		var n int
		err := db.QueryRow("SELECT count(*) FROM person WHERE "+query, values...).Scan(&n)
		if refused, ok := err.(*pq.Error); err != nil && !(ok && refused.Code == "22P02") {
			log.Fatal(err)
		}
		return n == 1
	}
	var id, disk, post string
	var number int64
	if err = db.QueryRow(insert).Scan(&id, &disk, &post, &number); err != nil {
		log.Fatal(err)
	}
	_, err = db.Exec(insertGiven, given...)
	written := err == nil && found(isGiven)
	since := time.Now().Add(-time.Hour)
	fmt.Printf("%T | %T | %s | %s | %s | %s | \n", id, number, first("as is", written, "", false),
		first("as is", found("id = $1 AND disk = $2 AND post = $3", id, disk, post), "", false),
		first("as is", found("id = ANY($1)", pq.Array([]string{id})), "", false),
		first("as is", found("id >= $1", since), "`::timestamptz`", found("id >= $1::timestamptz", since)))
}
