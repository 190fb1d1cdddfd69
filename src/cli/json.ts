// JSON as it comes in from answers, files and the command line.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { CliFailure } from './failure.js';

/** Undefined when the text is no JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** A JSON object, as every body and configuration is; `from` says in the refusal where the text stood. */
export function readObject(json: string, from: string): Record<string, unknown> {
  const value = parseJson(json);
  if (isObject(value)) return value;
  throw new CliFailure('usage', {
    said: `${from} is not a JSON object.`,
    advice: 'It must look like {"name": "value"}.',
  });
}

/** The text of a file, or of standard input for `-`. */
export async function readInput(path: string): Promise<string> {
  try {
    return path === '-' ? await text(process.stdin) : await readFile(path, 'utf8');
  } catch (cause) {
    throw new CliFailure('usage', {
      said: `${path} cannot be read.`,
      advice: 'Check the path and its permissions.',
      cause,
    });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
