/**
 * Turns a verified GitHub webhook into the event that the Foundation knows: its type, which delivery it is, and which
 * resource it is about. The payload stays data.
 */
import type { JsonObject, JsonValue } from '../../protocol/index.js';

interface GithubDelivery {
  /** X-GitHub-Event */
  event: string;
  /** X-GitHub-Delivery: the same again when GitHub delivers again. */
  delivery: string;
  payload: JsonValue;
}

interface GithubEvent {
  type: string;
  sourceEventId: string;
  resource: string | undefined;
  data: JsonObject;
}

type NormalizedGithub = { ok: true; event: GithubEvent } | { ok: false; reason: string };

const eventName = /^[a-z][a-z0-9_-]{0,63}$/;
const deliveryId = /^[A-Za-z0-9-]{1,64}$/;
const repositoryName = /^[A-Za-z0-9_.-]{1,100}\/[A-Za-z0-9_.-]{1,100}$/;
const loginName = /^[A-Za-z0-9_.-]{1,100}$/;

export function normalizeGithubDelivery({ event, delivery, payload }: GithubDelivery): NormalizedGithub {
  if (!eventName.test(event)) return { ok: false, reason: 'X-GitHub-Event is missing or is not an event name' };
  if (!deliveryId.test(delivery)) return { ok: false, reason: 'X-GitHub-Delivery is missing or is not a delivery id' };
  const data = objectOf(payload);
  if (!data) return { ok: false, reason: 'the payload is not a JSON object' };
  return {
    ok: true,
    event: { type: typeOf(event, data), sourceEventId: delivery, resource: resourceOf(data), data },
  };
}

/** `github.pull_request.opened`, or `github.push` for an event that has no actions. */
function typeOf(event: string, data: JsonObject): string {
  const action = data.action;
  return typeof action === 'string' && eventName.test(action) ? `github.${event}.${action}` : `github.${event}`;
}

function resourceOf(data: JsonObject): string | undefined {
  const repository = objectOf(data.repository)?.full_name;
  if (typeof repository !== 'string' || !repositoryName.test(repository)) return organizationOf(data);
  const base = `github:${repository}`;
  const pull = objectOf(data.pull_request);
  const issue = objectOf(data.issue);
  if (pull) return numbered(`${base}#pull/`, pull, base);
  // A comment on a pull request comes as an issue that names its pull request.
  if (issue) return numbered(`${base}#${issue.pull_request === undefined ? 'issue' : 'pull'}/`, issue, base);
  return base;
}

function organizationOf(data: JsonObject): string | undefined {
  const login = objectOf(data.organization)?.login;
  return typeof login === 'string' && loginName.test(login) ? `github:${login}` : undefined;
}

function numbered(prefix: string, object: JsonObject, otherwise: string): string {
  const number = object.number;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? `${prefix}${number}` : otherwise;
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
