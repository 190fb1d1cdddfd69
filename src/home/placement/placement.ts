/**
 * Placement: which runtime host acts for an agent. States of a row: *held* (expires_at ahead) and *lapsed* (expires_at
 * reached, by its holder's silence or by release). A lapsed placement fences everything under its epoch; the next claim,
 * whoever makes it, starts a new epoch. Rows are never deleted, so that the epoch only grows (D17).
 */

/** How long a host may be silent before another may act for its agents. */
export const placementTtlMs = 6_000;

export interface Placement {
  home: string;
  placementLeaseId: string;
  placementEpoch: number;
  holder: string;
  expiresAt: Date;
}
