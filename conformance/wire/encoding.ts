// Scalars of the wire, as chapter 01 of the specification has them.
import { createHash } from 'node:crypto';

export function sha256(bytes: Uint8Array | string): Buffer {
  return createHash('sha256').update(bytes).digest();
}

export function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${sha256(bytes).toString('hex')}`;
}

/** The `content-digest` field of RFC 9530. */
export function contentDigestOf(bytes: Uint8Array): string {
  return `sha-256=:${sha256(bytes).toString('base64')}:`;
}

export function base64url(bytes: Uint8Array | string): string {
  return Buffer.from(bytes).toString('base64url');
}

/** Undefined for padding, other alphabets and unused bits that are not zero. */
export function fromBase64url(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** What is signed without being a JWS (ENCODING-11). */
export function signingBytes(purpose: string, text: string): Buffer {
  return Buffer.from(`agent-federation/1 ${purpose}\n${text}`);
}

export function isInstant(text: unknown): text is string {
  if (typeof text !== 'string' || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text)) return false;
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text;
}
