// Asks a domain's own doors who it is: the discovery document, then the bundle at the gateway named there.
import pRetry from 'p-retry';
import { PeerError, type PeerHttp, type PeerResponse } from '../../platform/index.js';
import {
  DISCOVERY_PATH,
  type Domain,
  fromUtf8,
  LIMITS,
  parseDiscovery,
  type ReceiverLimits,
} from '../../protocol/index.js';

const timeoutMs = 5_000;

/** What a domain answered, unverified. */
export interface Discovered {
  gateway: string;
  limits: ReceiverLimits;
  bundle: string;
}

export async function discoverPeer(http: PeerHttp, domain: Domain): Promise<Discovered> {
  const answer = await get(http, `https://${domain}${DISCOVERY_PATH}`, LIMITS.discoveryBytes);
  const read = parseDiscovery(answer.body, domain);
  if (!read.ok) throw invalid(`the discovery document of ${domain}: ${read.detail}`);
  const { gateway, limits } = read.document;
  const bundle = await get(http, `${gateway}/federation/v1/bundle`, LIMITS.bundleBytes);
  const token = fromUtf8(bundle.body);
  if (token === undefined) throw invalid(`the bundle of ${domain} is not UTF-8`);
  return { gateway, limits, bundle: token };
}

/** One quick second try, because a lost connection is the commonest fault; longer waits are the caller's. */
function get(http: PeerHttp, url: string, maxBytes: number): Promise<PeerResponse> {
  return pRetry(
    async () => {
      const answer = await http.request({
        method: 'GET',
        url,
        headers: { accept: 'application/json, */*' },
        maxBytes,
        timeoutMs,
      });
      if (answer.status === 200) return answer;
      const retryable = answer.status >= 500 || answer.status === 429;
      throw new PeerError('refused', `${url} answered ${answer.status}`, { retryable, status: answer.status });
    },
    { retries: 1, minTimeout: 100, shouldRetry: ({ error }) => error instanceof PeerError && error.retryable },
  );
}

function invalid(message: string): PeerError {
  return new PeerError('answer_invalid', message, { retryable: false });
}
