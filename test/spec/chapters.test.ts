// The chapters: requirements with stable ids, examples and tables as the vectors and the code have them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fillChapter, requirementsOf } from '../../spec/tools/chapters.js';
import { vectorFiles } from '../../spec/tools/vectors/index.js';
import { LIMITS } from '../../src/protocol/index.js';

const spec = join(import.meta.dirname, '../../spec');
const root = join(spec, '..');
const chapters = readdirSync(spec)
  .filter((name) => /^[0-9]{2}-[a-z-]+\.md$/.test(name))
  .sort();
const texts = new Map(chapters.map((name) => [name, readFileSync(join(spec, name), 'utf8')]));
const requirements = chapters.flatMap((name) => requirementsOf(name, texts.get(name) ?? ''));
const ids = requirements.map(({ id }) => id);
const vectors = await vectorFiles();

test.each(chapters)('%s shows what the vectors and the code say', async (name) => {
  await expect(fillChapter(texts.get(name) ?? '', vectors, requirements)).toMatchFileSnapshot(join(spec, name));
});

describe('requirements', () => {
  test('each id is given once, counts up from 1 in its chapter, and no dropped one comes back', () => {
    expect(new Set(ids).size).toBe(ids.length);
    const dropped = new Set<string>(readFileSync(join(spec, 'changelog.md'), 'utf8').match(/[A-Z]+-[0-9]+/g) ?? []);
    expect(ids.filter((id) => dropped.has(id))).toEqual([]);
    for (const kind of new Set(ids.map((id) => id.split('-')[0]))) {
      const numbers = ids.filter((id) => id.startsWith(`${kind}-`)).map((id) => Number(id.split('-')[1]));
      expect(numbers, kind).toEqual(numbers.map((_, index) => index + 1));
    }
  });

  test('each is one sentence with a word of BCP 14', () => {
    const words = /\b(MUST|SHOULD|MAY)\b/;
    expect(
      requirements.filter(
        ({ sentence }) => !words.test(sentence) || !sentence.endsWith('.') || /\. [A-Z]/.test(sentence),
      ),
    ).toEqual([]);
  });

  test('the words of BCP 14 stand in requirements only', () => {
    const prose = [...texts.values()]
      .join('\n')
      .split('\n')
      .filter((line) => !line.startsWith('- **'));
    expect(prose.filter((line) => /\b(MUST|SHOULD|MAY|SHALL|REQUIRED)\b/.test(line))).toEqual([]);
  });

  test('every id that is named anywhere exists', () => {
    const kinds = new Set(ids.map((id) => id.split('-')[0]));
    const named = [...texts.values(), ...sources()].flatMap((text) => text.match(/\b[A-Z]+-[0-9]+\b/g) ?? []);
    expect([...new Set(named)].filter((id) => kinds.has(id.split('-')[0]) && !ids.includes(id))).toEqual([]);
  });

  test('every threat of the security chapter is answered by a requirement', () => {
    const rows = (texts.get('11-security.md') ?? '')
      .split('\n')
      .filter((line) => /^\| (?!threat|---)/.test(line) && !line.startsWith('|---'));
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((row) => !ids.some((id) => row.includes(id)))).toEqual([]);
  });

  test('every number of the wire appears with its name', () => {
    const limits = texts.get('12-limits.md') ?? '';
    expect(Object.entries(LIMITS).filter(([name, value]) => !limits.includes(`| \`${name}\` | ${value}`))).toEqual([]);
    expect(limits.match(/not yet specified \|/g)).toHaveLength(2);
  });
});

test('every link inside the specification leads somewhere', () => {
  const pages = [...texts, ['README.md', readFileSync(join(spec, 'README.md'), 'utf8')] as const];
  const links = pages.flatMap(([, text]) =>
    [...text.matchAll(/\]\(([^)#:\s]+\.md)\)/g)].map((match) => match[1] ?? ''),
  );
  const there = new Set(readdirSync(spec, { recursive: true }).map(String));
  expect(links.filter((link) => !there.has(link))).toEqual([]);
});

function sources(): string[] {
  return ['src', 'test', 'conformance'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
  );
}
