// The conversation room.
export type { Conversation, RememberConversation } from './conversation.js';
export { readConversation, readConversations, rememberConversation, rememberConversations } from './store.js';
