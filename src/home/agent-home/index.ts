// The agent-home room.
export type { AgentHomeRecord } from './agent-home.js';
export { endAgent, pauseAgent, resumeAgent } from './change-status.js';
export { createAgent } from './create-agent.js';
export { agentHomeRecord, homeAgentDirectory, listAgentHomes } from './read-agent-home.js';
