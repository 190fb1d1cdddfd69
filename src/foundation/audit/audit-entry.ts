/** One decision or act, as its transaction saw it. Details hold ids and codes, never bodies, keys or tokens. */
import type { JsonObject } from '../../protocol/index.js';

export interface AuditEntry {
  home: string;
  /** Who acted: an address, `run:{id}`, or `system:{worker}`. */
  actor: string;
  /** Dotted, noun first: `effect.settle`. */
  action: string;
  /** The id of what it was done to. */
  object: string;
  outcome: string;
  details?: JsonObject;
}
