import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, printableJson, sheet, shorten, table } from '../../src/cli/printable.js';

const seed = 20_240_607;
const anyText = fc.string({ unit: 'binary' });
const actsOnTerminals = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('text for a terminal', () => {
  it('never holds a character that a terminal acts on', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(printable(text)).not.toMatch(actsOnTerminals);
      }),
      { seed },
    );
  });

  it('shows escape sequences and reversed reading instead of obeying them', () => {
    expect(printable('a\u001b[2Jb\u202ec')).toBe('a\\u001b[2Jb\\u202ec');
  });

  it('JSON stays the same JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), anyText, (value, text) => {
        const both = { value, text };
        const written = printableJson(both);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(both)));
        expect(written).not.toMatch(actsOnTerminals);
      }),
      { seed },
    );
  });

  it('columns are as wide as their widest cell', () => {
    const rows = [
      { name: 'a', count: 12 },
      { name: 'longer', count: 3 },
    ];
    const columns = [
      { title: 'NAME', value: (row: (typeof rows)[number]) => row.name },
      { title: 'COUNT', value: (row: (typeof rows)[number]) => row.count },
    ];
    expect(table(rows, columns)).toBe('NAME    COUNT\na       12\nlonger  3\n');
  });

  it('an empty table and an absent value say so', () => {
    expect(table([], [{ title: 'X', value: () => 1 }])).toBe('Nothing to show.\n');
    expect(table([{}], [{ title: 'X', value: () => undefined }])).toBe('X\n-\n');
    expect(
      sheet([
        ['a', 1],
        ['gone', undefined],
        ['list', []],
      ]),
    ).toBe('a     1\nlist  -\n');
  });

  it('what is cut is marked, by characters and not by halves of them', () => {
    expect(shorten('😀😀😀', 3)).toBe('😀😀😀');
    expect(shorten('😀😀😀😀', 3)).toBe('😀😀…');
  });
});
