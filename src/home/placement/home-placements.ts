// The Foundation's Placements port over the authoritative record in this domain's database.
import { type Placements, tablePlacements } from '../../foundation/index.js';
import type { Clock, Random } from '../../platform/index.js';

export function homePlacements(parts: { clock: Clock; random: Random }): Placements {
  return tablePlacements('home.placements', parts);
}
