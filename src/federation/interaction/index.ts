// The interaction room: typed speech acts, sent and received.
export { commitmentOf, composeInteraction, isConversation } from './compose-interaction.js';
export { interactionIngress, interactionInput } from './interaction-input.js';
export { defaultLifetimeS, type ProposedInteraction, readProposal } from './interaction-proposal.js';
export {
  type ConversationHead,
  moveHeads,
  readHeads,
} from './store.js';
