const symbols = '23456789abcdefghijklmnopqrstuvwx';
const bits = (text) => [...text].reduce((sum, c) => sum * 32 + symbols.indexOf(c), 0);
// 39 bits of 4 ms since 2010, in the first 40 bits of the text
const snoTime = (id) => new Date(Date.UTC(2010, 0, 1) + Math.floor(bits(id.slice(0, 8)) / 2) * 4);
// milliseconds since 2026, above 16 bits of sequence
const masticTime = (id) => new Date(Date.UTC(2026, 0, 1) + Number(BigInt(id) >> 16n));

console.log(snoTime('9q99v4p624ppi223').toISOString(), masticTime('1844228452057088').toISOString());
