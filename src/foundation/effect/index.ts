// The door of the effect room: the Effect Gateway and its records.
export type { EffectGateway } from './effect-gateway.js';
export {
  type ActionProposal,
  type EffectOutcome,
  type EffectRecord,
  type EffectRefusal,
  type EffectResult,
  effectLimits,
  isRefusal,
  observationOf,
} from './effect-record.js';
export { performEffect } from './perform-effect.js';
export { recoverEffects } from './recover-effects.js';
export { type SharedCommits, shareCommits } from './share-commits.js';
