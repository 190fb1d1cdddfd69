// The conversation room.
export type { Conversation, RememberConversation } from './conversation.js';
export { readConversation, rememberConversation } from './store.js';
