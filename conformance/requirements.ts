// The frozen list of requirements, as it was extracted from the specification: the ids are the ids of the checks.
import { readFileSync } from 'node:fs';
import { listOf, parseJson, textOf } from './wire/json.js';

export interface Requirement {
  readonly id: string;
  /** MUST fails a run, SHOULD warns. */
  readonly keyword: 'MUST' | 'SHOULD' | 'MAY';
  readonly chapter: string;
  readonly sentence: string;
}

const requirementLine = /^- \*\*([A-Z]+-[1-9][0-9]*)\*\* (.+)$/gm;

/** The requirements of one chapter of the specification. */
export function extractRequirements(chapter: string, text: string): Requirement[] {
  return [...text.matchAll(requirementLine)].map(([, id = '', sentence = '']) => ({
    id,
    keyword: keywordOf(sentence),
    chapter,
    sentence,
  }));
}

export function readRequirements(): ReadonlyMap<string, Requirement> {
  const text = readFileSync(new URL('../conformance/requirements.json', import.meta.url), 'utf8');
  const list = listOf(parseJson(text), 'requirements').map((entry): Requirement => {
    const sentence = textOf(entry, 'sentence');
    return { id: textOf(entry, 'id'), keyword: keywordOf(sentence), chapter: textOf(entry, 'chapter'), sentence };
  });
  return new Map(list.map((requirement) => [requirement.id, requirement]));
}

/** The strongest word of BCP 14 in it. */
function keywordOf(sentence: string): Requirement['keyword'] {
  if (/\bMUST\b/.test(sentence)) return 'MUST';
  return /\bSHOULD\b/.test(sentence) ? 'SHOULD' : 'MAY';
}
