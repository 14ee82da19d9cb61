// pgx, version 4.
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

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, "sslmode=disable") // where PGHOST, PGPORT, PGUSER and PGDATABASE say
	if err != nil {
		log.Fatal(err)
	}
	found := func(query string, values ...any) bool {
		var n int
		err := db.QueryRow(ctx, "SELECT count(*) FROM person WHERE "+query, values...).Scan(&n)
		return err == nil && n == 1
	}
	var id, disk, post string
	var number int64
	if err = db.QueryRow(ctx, insert).Scan(&id, &disk, &post, &number); err != nil {
		log.Fatal(err)
	}
	_, err = db.Exec(ctx, insertGiven, given...)
	written := err == nil && found(isGiven)
	since := time.Now().Add(-time.Hour)
	fmt.Printf("%T | %T | %s | %s | %s | %s | \n", id, number, first("as is", written, "", false),
		first("as is", found("id = $1 AND disk = $2 AND post = $3", id, disk, post), "", false),
		first("as is", found("id = ANY($1)", []string{id}), "`::text[]::sno[]`", found("id = ANY($1::text[]::sno[])", []string{id})),
		first("as is", found("id >= $1", since), "`::timestamptz`", found("id >= $1::timestamptz", since)))

	// CopyFrom is always binary: a string is not the ten bytes of a sno.
	copied := func(id any) error {
		_, err := db.CopyFrom(ctx, pgx.Identifier{"person"}, []string{"id", "name"}, pgx.CopyFromRows([][]any{{id, "eve"}}))
		return err
	}
	var refused *pgconn.PgError
	if err := copied("9q99v4p624ppi222"); !errors.As(err, &refused) || refused.Code != "22P03" {
		log.Fatal("CopyFrom of a string: ", err)
	}
	var ten []byte
	if err := db.QueryRow(ctx, "SELECT sno '9q99v4p624ppi222'::bytea").Scan(&ten); err != nil {
		log.Fatal(err)
	}
	if err := copied(&pgtype.Bytea{Bytes: ten, Status: pgtype.Present}); err != nil || !found("id = '9q99v4p624ppi222'") {
		log.Fatal("CopyFrom of bytes: ", err)
	}
}
