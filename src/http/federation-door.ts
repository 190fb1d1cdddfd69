// The federation door: what other domains and outside sources may call. Everything here is open to the network.
import type { Gateway } from '../federation/index.js';
import { currentBundle } from '../home/index.js';
import type { InputDoor } from './accept-at-door.js';
import { getDocs, getOpenapi } from './docs.js';
import type { Endpoint } from './endpoint.js';
import { getHealth, type Health } from './health.js';
import { getBundle } from './s2s/get-bundle.js';
import { getDirectory } from './s2s/get-directory.js';
import { getTransitions } from './s2s/get-transitions.js';
import { putTransaction } from './s2s/put-transaction.js';
import { type PostGithub, postGithub } from './webhooks/post-github.js';
import { getDiscovery } from './well-known/get-discovery.js';

export interface FederationDoor {
  gateway: Gateway;
  inputs: InputDoor;
  software: string;
  health: Health;
  findSource: PostGithub['findSource'];
}

export function federationEndpoints({ gateway, inputs, software, health, findSource }: FederationDoor): Endpoint[] {
  return [
    getHealth(health),
    getOpenapi('federation'),
    getDocs('federation'),
    getDiscovery({
      domain: gateway.domain.name,
      gateway: gateway.gatewayUrl,
      first_contact: 'quarantine',
      software,
      contact: '',
    }),
    getBundle(() => currentBundle(gateway)),
    getDirectory(gateway),
    putTransaction(gateway),
    getTransitions(gateway),
    postGithub({ ...gateway, ...inputs, findSource }),
  ];
}
