// A row of the table in doc/drivers.md, printed. `person` is a row as it was read. Each of id, list and time has ways to
// ask for that person, by the words of the table: the first that finds exactly one counts.
exports.since = new Date(Date.now() - 3600 * 1000);
exports.row = async (person, { id, list, time, diff }) => {
  const first = async (ways) => {
    for (const [name, ask] of Object.entries(ways)) {
      try {
        if ((await ask()).length === 1) return name;
      } catch (error) {
        if (!['22P02', '42883', '42804'].includes((error.cause ?? error.original ?? error).code)) throw error;
      }
    }
    return 'nothing works';
  };
  const ids = new Set([person.id, person.disk, person.post].map((value) => typeof value));
  console.log([[...ids].join('/'), typeof person.number, await first(id), await first(list), await first(time), diff].join(' | '));
};
