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
  type InsertSession,
  insertActiveSessions,
  insertSession,
  keepRuntimeState,
  knownSessionKeys,
  linkSession,
  linkSessions,
  lockSession,
  lockSessionByKeys,
  lockSessions,
  restSessions,
  selectSession,
  selectSessionsById,
} from './store.js';
