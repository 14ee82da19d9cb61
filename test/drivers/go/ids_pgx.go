package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgtype"
	"github.com/jackc/pgx/v4"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, "sslmode=disable") // where PGHOST, PGPORT, PGUSER and PGDATABASE say
	check(err)
	defer db.Close(ctx)

	// In queries, types that pgx does not know travel as text: string works for sno, gid and mastic, in and out.
	var id, disk, post string
	var invoice int64
	check(db.QueryRow(ctx, "INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, invoice").
		Scan(&id, &disk, &post, &invoice))
	fmt.Println(len(id), len(disk))
	var name string
	check(db.QueryRow(ctx, "SELECT name FROM person WHERE id = $1 AND disk = $2 AND post = $3", id, disk, post).Scan(&name))
	fmt.Println(name)

	// The server says that a parameter next to a sno is a sno: say what a time is, and of what an array is.
	var n int
	check(db.QueryRow(ctx, "SELECT count(*) FROM person WHERE id >= $1::timestamptz AND id = ANY($2::text[]::sno[])",
		time.Now().Add(-time.Hour), []string{id}).Scan(&n))
	fmt.Println(n)

	// CopyFrom is always binary. It sends a string as it is, and that is not the ten bytes of a sno.
	_, err = db.CopyFrom(ctx, pgx.Identifier{"person"}, []string{"id", "name"},
		pgx.CopyFromRows([][]interface{}{{"9q99v4p624ppi222", "grace"}}))
	var refused *pgconn.PgError
	fmt.Println(errors.As(err, &refused) && refused.Code == "22P03")
	var ten []byte
	check(db.QueryRow(ctx, "SELECT sno_to_bytea('9q99v4p624ppi222')").Scan(&ten))
	raw := &pgtype.Bytea{Bytes: ten, Status: pgtype.Present}
	copied, err := db.CopyFrom(ctx, pgx.Identifier{"person"}, []string{"id", "name"},
		pgx.CopyFromRows([][]interface{}{{raw, "grace"}}))
	check(err)
	check(db.QueryRow(ctx, "SELECT name FROM person WHERE id = '9q99v4p624ppi222'").Scan(&name))
	fmt.Println(copied, name)
}
