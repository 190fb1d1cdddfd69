/**
 * Quarantine: envelopes verified in origin but not admitted, because nobody pinned their domain. Bounded in count, bytes
 * and age, per origin and overall (D6). What lies here is in no mailbox and wakes nobody.
 */
import type { Address } from '../../protocol/index.js';

/** One envelope for one recipient, real or not: a stranger learns no difference. */
export interface QuarantineItem {
  messageId: string;
  sender: Address;
  recipient: Address;
  header: Uint8Array;
  signature: string;
  body: Uint8Array;
}

export interface QuarantineLoad {
  items: number;
  bytes: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
export const perOrigin: QuarantineLoad = { items: 1_000, bytes: 8 * MIB };
export const overall: QuarantineLoad = { items: 10_000, bytes: 64 * MIB };
export const quarantineAgeMs = 7 * 24 * 3_600_000;

export function bytesOf(item: QuarantineItem): number {
  return item.header.byteLength + item.body.byteLength + item.signature.length;
}

/** Which bound the new items would pass, or undefined when they fit. */
export function boundPassed(
  held: { origin: QuarantineLoad; all: QuarantineLoad },
  added: QuarantineLoad,
): string | undefined {
  if (held.origin.items + added.items > perOrigin.items) return 'the items held for this origin';
  if (held.origin.bytes + added.bytes > perOrigin.bytes) return 'the bytes held for this origin';
  if (held.all.items + added.items > overall.items) return 'the items held for all origins';
  if (held.all.bytes + added.bytes > overall.bytes) return 'the bytes held for all origins';
  return undefined;
}
