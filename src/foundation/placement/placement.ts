/**
 * Placement: which runtime host acts for an agent. States of a row: *held* (expires_at ahead in lease time) and *lapsed*
 * (expires_at reached, by its holder's silence or by release). A lapsed placement fences everything under its epoch; the next claim,
 * whoever makes it, starts a new epoch. Rows are never deleted, so that the epoch only grows (D17).
 *
 * How hosts share agents: a host keeps an agent while it drives one of its runs, and for `idleKeptMs` after the last. A host
 * that has room asks for agents whose queued run waits elsewhere: after `askAfterMs` where it could start nothing else, else
 * after `askBusyAfterMs`. Who is asked hands an agent over as soon as it drives no run of it, and for `askMs` nobody but the
 * asker takes it. A host without room asks for nothing, so its own idle agents go to those that have room.
 */
export const placementLimits = {
  /** How long a host may be silent before another may act for its agents. */
  ttlMs: 6_000,
  heartbeatMs: 1_500,
  idleKeptMs: 10_000,
  /** Agents without a run that one host keeps; those idle for longest go first. */
  idleKept: 1_000,
  askAfterMs: 50,
  askBusyAfterMs: 1_000,
  askMs: 2_000,
} as const;
