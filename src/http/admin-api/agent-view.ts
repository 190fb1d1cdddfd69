// An Agent Home as the admin API shows it.
import type { AgentHomeRecord } from '../../home/index.js';
import { nameOf } from './principal-view.js';

export function agentView(record: AgentHomeRecord): object {
  return { ...record, address: record.agent_id, name: nameOf(record.agent_id) };
}
