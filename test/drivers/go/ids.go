package main

import (
	"database/sql"
	"fmt"
	"log"
	"time"

	"github.com/lib/pq"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	db, err := sql.Open("postgres", "sslmode=disable") // where PGHOST, PGPORT, PGUSER and PGDATABASE say
	check(err)
	defer db.Close()

	// A sno and a gid scan into string, in their text form; a mastic into an integer as well. As any they are []byte, of
	// that text.
	var id, disk string
	var post, invoice int64
	check(db.QueryRow("INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, invoice").
		Scan(&id, &disk, &post, &invoice))
	fmt.Println(len(id), len(disk))
	var raw any
	check(db.QueryRow("SELECT id FROM person WHERE id = $1", id).Scan(&raw))
	fmt.Printf("%T %d\n", raw, len(raw.([]byte)))

	// The ten bytes, for libraries that keep a sno as bytes.
	var ten []byte
	check(db.QueryRow("SELECT id::bytea FROM person WHERE id = $1", id).Scan(&ten))
	var name string
	check(db.QueryRow("SELECT name FROM person WHERE id = $1::bytea::sno", ten).Scan(&name))
	fmt.Println(len(ten), name)

	// Strings and times go without a type: next to a sno, say what they are.
	since := time.Now().Add(-time.Hour)
	var n int
	check(db.QueryRow("SELECT count(*) FROM person WHERE id >= $1::timestamptz AND id = ANY($2)",
		since, pq.Array([]string{id})).Scan(&n))
	fmt.Println(n)
	err = db.QueryRow("SELECT count(*) FROM person WHERE id >= $1", since).Scan(&n)
	fmt.Println(err.(*pq.Error).Code)
}
