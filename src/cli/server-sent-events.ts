// Reads the frames of a `text/event-stream` answer as they arrive.
import { parseJson } from './json.js';

export interface Frame {
  /** What a later request goes on from. */
  readonly id: string | undefined;
  readonly event: string;
  /** The parsed JSON; undefined when it is none. */
  readonly data: unknown;
}

const LONGEST_FRAME_CHARS = 4 * 1024 * 1024;

/** Yields each frame that has data; `heard` is called for every chunk, also for heartbeats. */
export async function* readFrames(response: Response, heard: () => void): AsyncGenerator<Frame> {
  if (!response.body) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    heard();
    rest += decoder.decode(chunk, { stream: true }).replaceAll('\r', '');
    if (rest.length > LONGEST_FRAME_CHARS) throw new RangeError('an event is longer than any that is sent');
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const frame = parseBlock(block);
      if (frame) yield frame;
    }
  }
}

function parseBlock(block: string): Frame | undefined {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    // A line that starts with a colon is a comment: the heartbeat.
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.slice(0, colon) === 'event') event = value;
    if (line.slice(0, colon) === 'id') id = value;
    if (line.slice(0, colon) === 'data') data.push(value);
  }
  return data.length === 0 ? undefined : { id, event, data: parseJson(data.join('\n')) };
}
