// The house rules, read from the source as text. What is listed as an exception may only shrink: one that is no longer
// needed fails too.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blankLiterals, functionsOf, importsOf, lineOf } from './support/source-scan.js';

interface Source {
  path: string;
  text: string;
  blanked: string;
}

const root = join(import.meta.dirname, '..');
const sources = readSources('src');
const tests = readSources('test');
const suite = readSources('conformance');

// Imports go from a row to a lower one; a row's members do not know each other.
const rows = [
  ['cli', 'console'],
  ['main.ts'],
  ['start-page.ts'],
  ['domain.ts'],
  ['domain-workers.ts'],
  ['domain-layers.ts'],
  ['embedded-foundation.ts'],
  ['domain-database.ts'],
  ['http', 'workers'],
  ['runtimes', 'adapters'],
  ['federation'],
  ['harness'],
  ['home'],
  ['foundation'],
  ['config.ts'],
  ['config-names.ts'],
  ['protocol'],
  ['platform'],
];
// Layers whose folders are rooms; the others are one room each, whatever folders they have.
const layersOfRooms = new Set(['runtimes', 'adapters', 'federation', 'harness', 'home', 'foundation']);

const limits = { fileLines: 300, functionLines: 60, parameters: 3 };

/** `rule path` → the value it has. */
const exceptions: Readonly<Record<string, number>> = {};
const importExceptions = [
  // The ports speak of effects, and the effect room is made of the ports: types only.
  'src/foundation/ports.ts → ./effect/effect-record.js: enters another room by an inner file',
];

describe('the scan', () => {
  it('sees a long function, a fourth parameter, a method, an arrow with a return type and every form of import', () => {
    const text = [
      "import { a } from './a.js';",
      "export type { B } from '../b/index.js';",
      "const c = await import('./c.js'); // import { no } from './no.js'",
      'function long(one: A, { two, three }: B, four: () => void, five = [1, 2]) {',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of code to be scanned
      ...Array.from({ length: 60 }, () => "  call('}', `${'{'}`, /[/{]/);"),
      '}',
      'class D {',
      '  method<T>(x: Map<string, T>): Promise<T[]> {',
      '    if (x) { return y(() => { z(); }); }',
      '  }',
      '}',
      'const arrow = async (x: number): Promise<{ a: string }[]> => {',
      '};',
    ].join('\n');
    expect(importsOf(text)).toEqual(['./a.js', '../b/index.js', './c.js']);
    const found = functionsOf(blankLiterals(text)).map(({ name, lines, parameters }) => [name, lines, parameters]);
    expect(found).toContainEqual(['long', 62, 4]);
    expect(found).toContainEqual(['method', 3, 1]);
    expect(found.filter(([, , parameters]) => parameters === 1)).toHaveLength(2);
  });
});

describe('tidy', () => {
  it('imports point down and enter a room by its index', () => {
    expect(
      sources.flatMap((source) => importsOf(source.text).flatMap((target) => importFault(source, target))),
    ).toEqual(importExceptions);
  });

  it('the conformance suite stands alone: it imports Node and itself, nothing of the house', () => {
    expect(suite.length).toBeGreaterThan(30);
    const strangers = suite.flatMap((source) =>
      importsOf(source.text)
        .filter((target) => !target.startsWith('node:'))
        .filter((target) => !normalize(join(dirname(source.path), target)).startsWith('conformance/'))
        .map((target) => `${source.path} → ${target}`),
    );
    expect(strangers).toEqual([]);
  });

  it('files, functions and parameter lists stay within their limits, and exceptions only shrink', () => {
    const measured = new Map<string, number>();
    for (const source of [...sources, ...tests, ...suite]) {
      measure(measured, `file-lines ${source.path}`, [source.text.trimEnd().split('\n').length, limits.fileLines]);
    }
    for (const source of [...sources, ...suite]) {
      for (const found of functionsOf(source.blanked)) {
        measure(measured, `function-lines ${source.path} ${found.name}`, [found.lines, limits.functionLines]);
        measure(measured, `parameters ${source.path} ${found.name}`, [found.parameters, limits.parameters]);
      }
    }
    expect(Object.fromEntries(measured)).toEqual(exceptions);
  });

  it('a file is named in kebab-case after what it holds', () => {
    const junk = /^(utils?|helpers?|common|manager|service|types)(\.|$)/;
    const paths = [...sources, ...tests, ...suite].map((source) => source.path);
    expect(paths.filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/.test(basename(path)))).toEqual([]);
    expect(paths.filter((path) => path.split('/').some((part) => junk.test(part)))).toEqual([]);
  });

  it('the first line of a file says what it is for', () => {
    expect(
      [...sources, ...suite]
        .filter((source) => !/^(#!.*\n)?(\/\/ \S|\/\*\*)/.test(source.text))
        .map((source) => source.path),
    ).toEqual([]);
  });

  it('nothing is exported by default, left to do, any, or asserted non-null', () => {
    const forbidden: Forbidden[] = [
      { pattern: /\bexport default\b/g, in: 'blanked' },
      { pattern: /\b(TODO|FIXME|XXX|HACK)\b/g, in: 'text' },
      { pattern: /(:|\bas|<|\|)\s*any\b(?!\s*\()/g, in: 'blanked' },
      { pattern: /[\w$)\]]!(?=[.,;)\]\s[])(?!=)/g, in: 'blanked' },
      { pattern: /@ts-(ignore|nocheck)/g, in: 'text' },
    ];
    const own = new Set(['test/tidy.test.ts']);
    expect(
      faults(
        [...sources, ...tests, ...suite].filter((source) => !own.has(source.path)),
        forbidden,
      ),
    ).toEqual([]);
  });

  it('time and chance come from the platform alone', () => {
    const forbidden: Forbidden[] = [
      {
        pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\brandomUUID\b|\bperformance\.now\b/g,
        in: 'blanked',
      },
      { pattern: /\bset(Timeout|Interval)\b|\btimers\/promises\b/g, in: 'blanked' },
    ];
    expect(faults(outside('src/platform/'), forbidden)).toEqual([]);
  });

  it('SQL stands in stores, in lower case, on the database clock, and opens no transaction there', () => {
    const statement: Forbidden = { pattern: /\b(sql|tx)(<[^`;]*?>)?`/g, in: 'text' };
    const outsideStores = outside('src/platform/').filter((source) => !isStore(source.path));
    expect(faults(outsideStores, [statement])).toEqual([]);
    const inStores: Forbidden[] = [
      { pattern: /\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|RETURNING|VALUES)\b/g, in: 'text' },
      { pattern: /(?<![.\w])now\(\)|\bcurrent_timestamp\b|\bclock_timestamp\b|\bstatement_timestamp\b/g, in: 'text' },
      { pattern: /\.transact\(/g, in: 'blanked' },
    ];
    expect(
      faults(
        sources.filter((source) => isStore(source.path)),
        inStores,
      ),
    ).toEqual([]);
  });

  it('the environment is read in the settings and the entries only', () => {
    // A process that starts another hands the search path on.
    const entries = /^src\/(config|main|cli\/hearth|cli\/demo\/domain-process)\.ts$/;
    const forbidden: Forbidden[] = [{ pattern: /\bprocess\.env\b/g, in: 'blanked' }];
    expect(
      faults(
        outside('src/platform/').filter((source) => !entries.test(source.path)),
        forbidden,
      ),
    ).toEqual([]);
  });
});

interface Forbidden {
  pattern: RegExp;
  in: 'text' | 'blanked';
}

function faults(among: readonly Source[], forbidden: readonly Forbidden[]): string[] {
  return among.flatMap((source) =>
    forbidden.flatMap((rule) =>
      [...source[rule.in].matchAll(rule.pattern)].map(
        (match) => `${source.path}:${lineOf(source.text, match.index)} ${match[0].trim()}`,
      ),
    ),
  );
}

function measure(measured: Map<string, number>, key: string, [value, limit]: [number, number]): void {
  if (value > limit) measured.set(key, Math.max(value, measured.get(key) ?? 0));
}

function outside(folder: string): Source[] {
  return sources.filter((source) => !source.path.startsWith(folder));
}

function isStore(path: string): boolean {
  return /(^|[/-])store\.ts$/.test(path);
}

function importFault(source: Source, target: string): string[] {
  if (!target.startsWith('.')) return [];
  const fault = (why: string) => [`${source.path} → ${target}: ${why}`];
  if (!target.endsWith('.js')) return fault('carries no .js');
  const path = normalize(join(dirname(source.path), target)).replace(/\.js$/, '.ts');
  const [from, to] = [placeOf(source.path), placeOf(path)];
  if (from.layer !== to.layer) {
    if (rowOf(from.layer) >= rowOf(to.layer)) return fault('does not point down');
    return isDoor(path, to) ? [] : fault('enters by an inner file');
  }
  // Inside a layer: the same room is free, another one is entered by its index.
  if (!layersOfRooms.has(from.layer) || to.room === undefined || from.room === to.room) return [];
  return basename(path) === 'index.ts' ? [] : fault('enters another room by an inner file');
}

/** The layer's index, a room's index, or the file that is a layer of its own; ports are the Foundation's second door. */
function isDoor(path: string, place: { layer: string; room: string | undefined }): boolean {
  if (place.layer.endsWith('.ts') || path === 'src/foundation/ports.ts') return true;
  return path === `src/${place.layer}/index.ts` || path === `src/${place.layer}/${place.room}/index.ts`;
}

function placeOf(path: string): { layer: string; room: string | undefined } {
  const [, layer = '', room, inner] = path.split('/');
  return { layer, room: inner === undefined ? undefined : room };
}

function rowOf(layer: string): number {
  const row = rows.findIndex((members) => members.includes(layer));
  if (row === -1) throw new Error(`the layer ${layer} has no place in the architecture`);
  return row;
}

function readSources(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => normalize(join(entry.parentPath, entry.name)).slice(root.length + 1))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, blanked: blankLiterals(text) };
    });
}
