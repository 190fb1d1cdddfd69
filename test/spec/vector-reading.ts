// Vectors as they are read from the published files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DomainBundle, parseDomain } from '../../src/protocol/index.js';

export type Read = { name: string; valid: boolean; reason?: string; expect?: unknown } & Record<string, unknown>;

export interface Context {
  bundle?: DomainBundle;
  bundles?: Record<string, DomainBundle>;
  certificates?: Record<string, string>;
  keys?: Record<string, unknown>;
}

/** `reason` for a refusal; otherwise what was found, to be compared with `expect`, and other members by their name. */
export type Verdict = { reason?: string; found?: object } & Record<string, unknown>;

export function readVectors(name: string): { context: Context; vectors: Read[] } {
  const path = join(import.meta.dirname, '../../spec/vectors', name);
  const file = JSON.parse(readFileSync(path, 'utf8')) as { context?: Context; vectors: Read[] };
  return { context: file.context ?? {}, vectors: file.vectors };
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a vector lacks a text');
  return value;
}

export function domain(value: unknown) {
  const parsed = parseDomain(text(value));
  if (!parsed) throw new TypeError(`${String(value)} is not a domain`);
  return parsed;
}
