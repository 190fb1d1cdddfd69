// The target's private door, for the parts of the suite that need the documented set-up.
import { call, type Reply } from './http-client.js';

export interface PrivateDoor {
  readonly url: string;
  readonly token: string;
  ask(method: string, path: string, options?: AskOptions): Promise<Reply>;
}

interface AskOptions {
  readonly body?: unknown;
  /** Another token, or none. */
  readonly token?: string | null;
  readonly fields?: readonly (readonly [string, string])[];
}

export function openPrivateDoor(url: string, token: string): PrivateDoor {
  return {
    url,
    token,
    ask(method, path, { body, token: other = token, fields = [] } = {}) {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array;
      return call({
        method,
        url: `${url}${path}`,
        fields: [
          ...(other === null ? [] : ([['authorization', `Bearer ${other}`]] as const)),
          ...(body === undefined ? [] : ([['content-type', 'application/json']] as const)),
          ...fields,
        ].filter(([name], at, all) => all.findLastIndex(([later]) => later === name) === at),
        ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
      });
    },
  };
}
