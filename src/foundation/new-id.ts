/** Ids of this layer: each names the home that its record belongs to. */
import type { Clock, Random } from '../platform/index.js';
import { type Id, type IdKind, isHomeTag, type Mint, mintId } from '../protocol/index.js';

export function newId<Kind extends IdKind>(kind: Kind, home: string, mint: Mint): Id<Kind> {
  if (!isHomeTag(home)) throw new TypeError(`not a home: ${home}`);
  return mintId(kind, home, mint);
}

/** The instant and the chance that new ids are made from. */
export function mintFrom({ clock, random }: { clock: Clock; random: Random }): Mint {
  return { now: clock.now(), random: (bytes) => random.bytes(bytes) };
}
