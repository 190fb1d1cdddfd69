/** The door of the suspension room. */
export { addStandingSubscription } from './add-standing-subscription.js';
export { countMatch, type WaitOutcome } from './count-match.js';
export { declareWait } from './declare-wait.js';
export {
  awaitedTypes,
  isAwaited,
  isTypeAwaited,
  listeningSubscriptions,
  type MatchedBy,
  waitingSubscriptions,
} from './matching-store.js';
export {
  type AwaitedPart,
  type CountableInput,
  countInput,
  dueAtOf,
  neededOf,
  type Wait,
} from './resume-policy.js';
export {
  cancelSuspension,
  consumeSuspension,
  endStandingSubscription,
  endSubscriptionsOf,
  insertRuntimeState,
  listSubscriptions,
  type RuntimeState,
  selectOpenSuspension,
  selectRuntimeState,
  selectSuspension,
  selectSuspensionOfRun,
} from './store.js';
export {
  checkSubscription,
  faultOfWait,
  type ResumePolicy,
  type SubscriptionRecord,
  type SuspensionRecord,
  suspensionLimits,
  type WaitTerms,
} from './suspension.js';
export { holdTelling, shareTelling } from './telling-store.js';
export {
  expireSuspension,
  markReplayed,
  markReplayedTo,
  postponeSuspension,
  selectAwaitedSubjects,
  selectDueSuspensions,
  selectLogMatches,
  selectUnreplayedSuspensions,
} from './wait-store.js';
