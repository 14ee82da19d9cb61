<?php
// PDO, in its native prepared statements.
$db = new PDO(sprintf('pgsql:host=%s;port=%s;dbname=%s', getenv('PGHOST'), getenv('PGPORT'), getenv('PGDATABASE')), getenv('PGUSER'));
function found($query, $values = []) {
    global $db;
    $statement = $db->prepare($query);
    $statement->execute($values);
    return $statement->fetchAll(PDO::FETCH_ASSOC);
}
function first($ways) {
    foreach ($ways as $name => $way) {
        try {
            if (count(found(...$way)) == 1) return $name;
        } catch (PDOException $error) {
            if (!in_array($error->getCode(), ['22P02', '42883', '42804'])) throw $error;
        }
    }
    return 'nothing works';
}
[$person] = found("INSERT INTO person (name) VALUES ('ada') RETURNING *");
$since = (new DateTime('-1 hour'))->format(DATE_ATOM);
echo implode(' | ', [
    implode('/', array_unique(array_map('gettype', [$person['id'], $person['disk'], $person['post']]))),
    gettype($person['number']),
    first(['as is' => ['INSERT INTO person (id, disk, post, number) VALUES (?, ?, ?, ?) RETURNING id', ['9q99v4p624ppi224', '5rMJuGXiYw-2eDkDiPiLuBbS', '10339378790400001', 5]]]),
    first(['as is' => ['SELECT * FROM person WHERE id = ? AND disk = ? AND post = ?', [$person['id'], $person['disk'], $person['post']]]]),
    first(['as is' => ['SELECT * FROM person WHERE id = ANY(?)', ['{' . $person['id'] . '}']]]),
    first([
        'as is' => ['SELECT * FROM person WHERE id >= ?', [$since]],
        '`::timestamptz`' => ['SELECT * FROM person WHERE id >= ?::timestamptz', [$since]]]),
    '']), "\n";

// lastInsertId() is lastval(): the number of a sequence, here of another table.
$db->exec('CREATE TABLE visit (n bigserial, whose bigint)');
$db->exec('INSERT INTO visit (whose) VALUES (0)');
[$inserted] = found("INSERT INTO person (name) VALUES ('eve') RETURNING number");
if ($db->lastInsertId() !== '1' || $inserted['number'] < 2 ** 40) throw new Exception('lastInsertId() is an id');
