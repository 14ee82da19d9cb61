const alphabet = '23456789abcdefghijklmnopqrstuvwx';

// 39 bits of 4 ms since 2010, in the first 40 bits of the text
function snoTime(id) {
  let bits = 0;
  for (const c of id.slice(0, 8)) bits = bits * 32 + alphabet.indexOf(c);
  return new Date(Date.UTC(2010, 0, 1) + Math.floor(bits / 2) * 4);
}

// milliseconds since 2026, above 16 bits of sequence
function masticTime(id) {
  return new Date(Date.UTC(2026, 0, 1) + Number(BigInt(id) >> 16n));
}

console.log(snoTime('9q99v4p624ppi223').toISOString());
console.log(masticTime('1844228452057088').toISOString());
