/** The door of the suspension room. */
export { addStandingSubscription } from './add-standing-subscription.js';
export {
  cancelSuspension,
  consumeSuspension,
  endStandingSubscription,
  insertRuntimeState,
  insertSubscription,
  insertSuspension,
  listSubscriptions,
  markReplayed,
  matchSubscriptions,
  selectFirstMatch,
  selectOpenSuspension,
  selectRuntimeState,
  selectSuspension,
  selectSuspensionOfRun,
  selectUnreplayedSuspensions,
} from './store.js';
export { checkSubscription, type SubscriptionRecord, type SuspensionRecord, suspensionLimits } from './suspension.js';
