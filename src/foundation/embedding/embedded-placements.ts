/** The Placements port for an embedder without homes: leases in the Foundation's own schema, by the same rules. */
import type { mintFrom } from '../new-id.js';
import { tablePlacements } from '../placement/index.js';
import type { Placements } from '../ports.js';

export function embeddedPlacements(parts: Parameters<typeof mintFrom>[0]): Placements {
  return tablePlacements('foundation.embedded_placements', parts);
}
