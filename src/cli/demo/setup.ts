/** What an operator does once on each side before the journey can run: pin the peer, create the agents and the source. */
import { auditorAddress, auditorScript, managerAddress, managerScript } from './agents.js';
import type { DomainProcess } from './domain-process.js';

export interface DemoSetup {
  webhookUrl: string;
  webhookSecret: string;
}

/** @param workUrl where the auditor does its one thing in the outside world */
export async function setUpDomains(alpha: DomainProcess, beta: DomainProcess, workUrl: string): Promise<DemoSetup> {
  await pinEachOther(alpha, beta);
  await admin(alpha, 'POST /admin/v1/agents', {
    name: nameOf(managerAddress),
    display_name: 'Release manager',
    runtime: { id: 'scripted', config: managerScript },
    grants: [{ action: 'interaction.*', target: 'agent://beta.test/*' }],
    subscriptions: [{ type: 'github.release.published' }],
  });
  await admin(beta, 'POST /admin/v1/agents', {
    name: nameOf(auditorAddress),
    display_name: 'Release auditor',
    runtime: { id: 'scripted', config: auditorScript(workUrl) },
    grants: [
      { action: 'interaction.*', target: 'agent://alpha.test/*' },
      { action: 'http.post', target: workUrl },
    ],
  });
  const source = await admin<{ webhook: { secret: string } }>(alpha, 'POST /admin/v1/sources', {
    name: 'github',
    adapter: 'github',
  });
  return { webhookUrl: `${alpha.federationUrl}/webhooks/github/github`, webhookSecret: source.webhook.secret };
}

async function pinEachOther(alpha: DomainProcess, beta: DomainProcess): Promise<void> {
  for (const [here, there] of [
    [alpha, beta],
    [beta, alpha],
  ] as const) {
    const { fingerprint } = await admin<{ fingerprint: string }>(there, 'GET /admin/v1/domain');
    await admin(here, 'POST /admin/v1/peers', { domain: there.domain, fingerprint });
  }
}

function nameOf(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1);
}

/** One call of the private door as the operator. */
export async function admin<T>(to: DomainProcess, call: `${'GET' | 'POST'} /${string}`, body?: object): Promise<T> {
  const [method = 'GET', path = '/'] = call.split(' ');
  const response = await fetch(`${to.apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${to.operatorToken()}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${to.domain} ${call} was answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}
