/**
 * The parts of the chapters that come from elsewhere: examples from the vectors, tables from the code. A part stands between
 * `<!-- fill: … -->` and `<!-- /fill -->` and is written anew by `npm run spec`.
 */
import {
  describeProblem,
  LIMITS,
  PROBLEM_CODES,
  REFUSAL_CODES,
  type RefusalCode,
  TRANSITION_TABLE,
} from '../../src/protocol/index.js';
import type { VectorFile } from './vectors/vector-file.js';

export interface Requirement {
  id: string;
  sentence: string;
  chapter: string;
}

const FILL = /<!-- fill: (.+?) -->\n[\s\S]*?<!-- \/fill -->/g;
const REQUIREMENT = /^- \*\*([A-Z]+-[1-9][0-9]*)\*\* (.+)$/gm;

/** The chapter with every part filled. */
export function fillChapter(
  text: string,
  vectors: Record<string, VectorFile>,
  requirements: readonly Requirement[],
): string {
  return text.replace(FILL, (_, instruction: string) => {
    return `<!-- fill: ${instruction} -->\n${partOf(instruction, vectors, requirements)}\n<!-- /fill -->`;
  });
}

export function requirementsOf(chapter: string, text: string): Requirement[] {
  return [...text.matchAll(REQUIREMENT)].map(([, id = '', sentence = '']) => ({ id, sentence, chapter }));
}

function partOf(
  instruction: string,
  vectors: Record<string, VectorFile>,
  requirements: readonly Requirement[],
): string {
  switch (instruction) {
    case 'limits':
      return limitTable(requirements);
    case 'problems':
      return table(
        ['code', 'status', 'means', 'what to do'],
        PROBLEM_CODES.map((code) => problemRow(code)),
      );
    case 'refusals':
      return table(
        ['code', 'means'],
        REFUSAL_CODES.map((code) => [`\`${code}\``, REFUSALS[code]]),
      );
    case 'transitions':
      return table(
        ['from', 'transition', 'by', 'to'],
        TRANSITION_TABLE.map(({ from, kind, by, to }) => [from, `\`${kind}\``, by, to]),
      );
    default:
      return example(instruction, vectors);
  }
}

/** `vector FILE#NAME @PATH`: a value out of a vector, its bytes unchanged. */
function example(instruction: string, vectors: Record<string, VectorFile>): string {
  const [, file = '', name = '', path] = /^vector ([a-z-]+\.json)#(.+?)(?: @([a-z.0-9_]+))?$/.exec(instruction) ?? [];
  const vector = vectors[file]?.vectors.find((entry) => entry.name === name);
  if (!vector) throw new TypeError(`the chapter asks for ${instruction}, which is no vector`);
  const { name: _, valid: __, ...members } = vector;
  const value = (path?.split('.') ?? []).reduce<unknown>((at, step) => Reflect.get(Object(at), step), members);
  const shown = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return `\`vectors/${file}\`, “${name}”:\n\n\`\`\`\n${shown}\n\`\`\``;
}

function limitTable(requirements: readonly Requirement[]): string {
  return table(
    ['name', 'value', 'used by'],
    Object.entries(LIMITS).map(([name, value]) => [
      `\`${name}\``,
      shownValue(name, value),
      usersOf(name, requirements),
    ]),
  );
}

function usersOf(name: string, requirements: readonly Requirement[]): string {
  const users = requirements.filter(({ sentence }) => sentence.includes(`\`${name}\``)).map(({ id }) => id);
  return users.join(', ') || 'not yet specified';
}

function shownValue(name: string, value: number): string {
  if (name.endsWith('Ms')) return `${value} ms (${duration(value / 1000)})`;
  if (/(S|HintS)$/.test(name)) return `${value} s`;
  if (name.endsWith('Bytes') && value % 1024 === 0)
    return `${value} (${value % 1048576 === 0 ? `${value / 1048576} MiB` : `${value / 1024} KiB`})`;
  return String(value);
}

function duration(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return `${seconds} s`;
}

function problemRow(code: (typeof PROBLEM_CODES)[number]): string[] {
  const { status, title, action } = describeProblem(code);
  return [`\`${code}\``, String(status), title, action];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

const REFUSALS: Record<RefusalCode, string> = {
  envelope_malformed: 'It is no envelope, or its header lacks, misspells or adds a member.',
  envelope_not_canonical: 'The header is another spelling of its canonical JSON.',
  envelope_too_large: 'Header, body or both pass a limit.',
  sender_mismatch: 'The sender does not belong to the proved origin.',
  key_invalid: 'The key is not the certified one, or was not valid when the message was issued.',
  certificate_invalid: 'The certificate does not hold, or is of somebody else.',
  certificate_missing: 'No valid certificate of the key came along.',
  signature_invalid: 'The signature does not hold over the header.',
  body_digest_mismatch: 'The body is not the one that was signed.',
  body_missing: 'The body that `body_ref` names is not here.',
  expired: '`expires_at` has passed.',
  issued_in_future: '`issued_at` is too far ahead of this clock.',
  lifetime_too_long: '`expires_at` is too long after `issued_at`.',
  wrong_destination: 'A recipient is not of this domain.',
  message_id_reuse: 'The message id was used for another header.',
  order_gap: 'An earlier message of the conversation is missing; not sent by this version.',
  recipient_unavailable: 'Nothing can be delivered to this recipient; why is not told.',
  interaction_invalid: 'The body does not follow the schema of its type, or does not fit its conversation.',
  interaction_unsupported: 'The type is known and not carried out here.',
  commitment_unknown: 'There is no such commitment here.',
  commitment_wrong_digest: 'It names another proposal, version, digest or report.',
  commitment_wrong_party: 'The author may not make this transition.',
  commitment_wrong_state: 'The transition has no place in this state.',
  commitment_previous_mismatch: '`previous` is not the head of the author’s log.',
  mint_foreign_domain: 'An id names another domain than the one that made it.',
  conversation_not_member: 'The sender takes no part in the conversation.',
  quarantine_full: 'No more can be held; not sent by this version, which answers 429.',
  quarantine_expired: 'It was held too long; not sent by this version.',
  dropped_by_operator: 'An operator dropped it; not sent by this version.',
  rate_limited: 'Too much of this kind.',
  internal: 'Something failed at the receiver; it has been noted there.',
};
