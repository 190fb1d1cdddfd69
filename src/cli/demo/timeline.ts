/** The journey as lines that a person can follow while it happens, read from both domains' private doors. */
import type { Clock } from '../../platform/index.js';
import type { DomainProcess } from './domain-process.js';
import { admin } from './setup.js';

interface RunItem {
  id: string;
  agent: string;
  status: string;
  resumed_from_run_id: string | null;
  retry_of_run_id: string | null;
}

interface MessageItem {
  position: number;
  direction: 'in' | 'out';
  sender: string;
  interaction_type: string;
  stored_at: string;
}

interface News {
  at: string;
  who: string;
  what: string;
}

interface EventItem {
  seq: number;
  type: string;
  data: Record<string, unknown>;
  at: string;
}

export interface Timeline {
  say(who: string, what: string): void;
  /** Prints what has happened in both domains since the last look. */
  look(): Promise<void>;
}

export interface TimelineOptions {
  /** Each domain with the agent whose mailbox is shown. */
  domains: readonly { domain: DomainProcess; agent: string }[];
  clock: Clock;
  write: (line: string) => void;
}

/** Longest list of runs that one look asks for. */
const runsPerLook = 20;

export function openTimeline({ domains, clock, write }: TimelineOptions): Timeline {
  const startedMs = clock.monotonicMs();
  const seen = new Map<string, string>();

  const say = (who: string, what: string) => {
    const seconds = ((clock.monotonicMs() - startedMs) / 1000).toFixed(2).padStart(7);
    write(`${seconds}s  ${who.padEnd(16)} ${what}`);
  };

  const look = async () => {
    const news: News[] = [];
    for (const { domain, agent } of domains) {
      news.push(...(await newEvents(domain, seen)), ...(await newMessages(domain, agent, seen)));
    }
    news.sort((a, b) => (a.at < b.at ? -1 : 1));
    for (const { who, what } of news) say(who, what);
  };
  return { say, look };
}

async function newEvents(domain: DomainProcess, seen: Map<string, string>): Promise<News[]> {
  const news: News[] = [];
  const { items } = await admin<{ items: RunItem[] }>(domain, `GET /v1/runs?limit=${runsPerLook}`);
  for (const run of items) {
    const after = afterOf(seen.get(run.id), '?');
    const page = await admin<Log<EventItem>>(domain, `GET /v1/runs/${run.id}/events${after}`);
    seen.set(run.id, page.cursor);
    for (const event of page.items) {
      const what = describe(run, event);
      if (what) news.push({ at: event.at, who: nameOf(run.agent), what });
    }
  }
  return news;
}

/** What the agent's mailbox took since the last look; what it sent is told by the effects. */
async function newMessages(domain: DomainProcess, agent: string, seen: Map<string, string>): Promise<News[]> {
  const key = `mailbox ${domain.domain}`;
  const call = `GET /v1/messages?agent=${nameOf(agent)}${afterOf(seen.get(key), '&')}` as const;
  const { items, cursor } = await admin<Log<MessageItem>>(domain, call);
  seen.set(key, cursor);
  const news: News[] = [];
  for (const message of items) {
    if (message.direction === 'out') continue;
    const what = `verified and stored: ${message.interaction_type} from ${message.sender}`;
    news.push({ at: message.stored_at, who: domain.domain, what });
  }
  return news;
}

interface Log<Item> {
  items: Item[];
  cursor: string;
}

function afterOf(cursor: string | undefined, sign: '?' | '&'): string {
  return cursor === undefined ? '' : `${sign}after=${cursor}`;
}

function nameOf(agent: string): string {
  return agent.slice(agent.lastIndexOf('/') + 1);
}

/** One event in words; events that add nothing for a reader give none. */
function describe(run: RunItem, event: EventItem): string | undefined {
  const { data } = event;
  if (event.type === 'run.started') return startOf(run);
  if (event.type === 'context.bundle') return `is shown its context, ${shortDigest(data.digest)}`;
  if (event.type === 'output') return `says: ${text(data.value ?? data)}`;
  if (event.type === 'effect.pending') return `intends ${text(data.action)}, recorded before anything is sent`;
  if (event.type === 'effect.settled') return `${text(data.action)} ${text(data.status)}`;
  if (event.type === 'run.suspended') return `suspends: ${text(data.reason)}`;
  if (event.type.startsWith('run.')) return `run ${event.type.slice(4)}${data.reason ? `: ${text(data.reason)}` : ''}`;
  return undefined;
}

function startOf(run: RunItem): string {
  if (run.retry_of_run_id) return 'is activated again after its run was lost';
  return run.resumed_from_run_id ? 'continues' : 'is activated';
}

function shortDigest(digest: unknown): string {
  return text(digest).slice(0, 'sha256:'.length + 12);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
