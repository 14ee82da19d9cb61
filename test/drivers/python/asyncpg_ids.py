import asyncio

import asyncpg
from row import given, row, since


async def main():
    connection = await asyncpg.connect()  # where PGHOST, PGPORT, PGUSER and PGDATABASE say

    async def found(query, *values):
        try:
            return await connection.fetch(query, *values)
        except asyncpg.DataError:  # asyncpg's own, before anything is sent
            return []

    (person,) = await found("INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, number")
    id, disk, post, _ = person
    by_id = await found("SELECT FROM person WHERE id = $1 AND disk = $2 AND post = $3", id, disk, post)
    by_list = await found("SELECT FROM person WHERE id = ANY($1)", [id])
    insert = "INSERT INTO person (id, disk, post, number) VALUES ($1, $2, $3, $4) RETURNING id, disk, post, number"
    written = await found(insert, *given)
    untyped = await found("SELECT FROM person WHERE id >= $1", since)
    typed = await found("SELECT FROM person WHERE id >= $1::timestamptz", since)
    row(tuple(person), write={"as is": lambda: written}, id={"as is": lambda: by_id}, list={"as is": lambda: by_list},
        time={"as is": lambda: untyped, "`::timestamptz`": lambda: typed})

    await connection.executemany("INSERT INTO person (id, name) VALUES ($1, $2)", [("9q99v4p624ppi223", "eve")])
    assert await connection.fetchval("SELECT id::text FROM person WHERE name = 'eve'") == "9q99v4p624ppi223"
    await connection.close()

asyncio.run(main())
