// What both programs write and look for.
package main

const (
	insert      = "INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, number"
	insertGiven = "INSERT INTO person (id, disk, post, number) VALUES ($1, $2, $3, $4)"
	isGiven     = "id = '9q99v4p624ppi224' AND disk = '5rMJuGXiYw-2eDkDiPiLuBbS' AND post = 10339378790400001 AND number = 5"
)

var given = []any{"9q99v4p624ppi224", "5rMJuGXiYw-2eDkDiPiLuBbS", "10339378790400001", 5}

func first(as string, is bool, cast string, works bool) string {
	if is {
		return as
	} else if works {
		return cast
	}
	return "nothing works"
}
