// The agent-home room.
export type { AgentHomeRecord } from './agent-home.js';
export { type ChangeStatus, endAgent, pauseAgent, resumeAgent, type StatusChange } from './change-status.js';
export { type AgentRefusal, type CreateAgent, createAgent, type StandingSubscription } from './create-agent.js';
export { agentHomeRecord, homeAgentDirectory, listAgentHomes } from './read-agent-home.js';
