// The form that every file of vectors has.

export interface ValidVector {
  name: string;
  valid: true;
  [member: string]: unknown;
}

export interface InvalidVector {
  name: string;
  valid: false;
  /** The reason code of the spec. */
  reason: string;
  [member: string]: unknown;
}

export type Vector = ValidVector | InvalidVector;

export interface VectorFile {
  about: string;
  /** What several vectors share, by name. */
  context?: Record<string, unknown>;
  vectors: readonly Vector[];
}

export function valid(name: string, members: Record<string, unknown>): ValidVector {
  return { name, valid: true, ...members };
}

export function invalid(name: string, reason: string, members: Record<string, unknown>): InvalidVector {
  return { name, valid: false, reason, ...members };
}

export function vectorText(file: VectorFile): string {
  return `${JSON.stringify(file, null, 1)}\n`;
}

/** The decoded payload of a compact token, for people; readers take it from the token. */
export function payloadOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
}
