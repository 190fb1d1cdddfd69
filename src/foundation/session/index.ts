/** The door of the session room. */
export { type ListedSession, type ListSessions, selectListedSession, selectSessions } from './listing-store.js';
export {
  conversationKey,
  interactionConversation,
  type SessionRecord,
  type SessionState,
  sessionKeysOf,
  subjectKey,
} from './session.js';
export {
  enterState,
  insertSession,
  keepRuntimeState,
  linkSession,
  lockSession,
  lockSessionByKeys,
  selectSession,
} from './store.js';
