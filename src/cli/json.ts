// JSON as it comes in from answers, files and the command line.
import { FileTooLarge, readBoundedFile } from '../platform/index.js';
import { Problem, parseStrictJson } from '../protocol/index.js';
import { CliFailure } from './failure.js';

// As much as the door takes in one body.
const longestInput = 1024 * 1024;
/** Undefined when the text is no JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** By the rules of the door that it is meant for, so that it is refused here and not there. */
function strictJson(json: string): unknown {
  try {
    return parseStrictJson(json, { maxBytes: longestInput });
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** A JSON object, as every body and configuration is; `from` says in the refusal where the text stood. */
export function readObject(json: string, from: string): Record<string, unknown> {
  const value = strictJson(json);
  if (isObject(value)) return value;
  const why = value instanceof Problem ? `: ${value.detail}` : '';
  throw new CliFailure('usage', {
    said: `${from} is not a JSON object${why}.`,
    advice: 'It must look like {"name": "value"}.',
  });
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk));
    size += chunks.at(-1)?.byteLength ?? 0;
    if (size > longestInput) throw new FileTooLarge(`the standard input has more than ${longestInput} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The text of a file, or of standard input for `-`. */
export async function readInput(path: string): Promise<string> {
  try {
    return path === '-' ? await readStandardInput() : readBoundedFile(path, longestInput);
  } catch (cause) {
    if (cause instanceof FileTooLarge) {
      throw new CliFailure('usage', { said: `${cause.message}.`, advice: 'Give a smaller file.', cause });
    }
    throw new CliFailure('usage', {
      said: `${path} cannot be read.`,
      advice: 'Check the path and its permissions.',
      cause,
    });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Problem);
}
