// A request between domains as its signature covers it: method, path and query, and the header lines as they came.
import type { DoorRequest } from '../../federation/index.js';
import type { DoorContext } from '../endpoint.js';

export function doorRequestOf(
  ctx: DoorContext,
  method: DoorRequest['method'],
  body: Uint8Array = new Uint8Array(),
): DoorRequest {
  const { rawHeaders } = ctx.req;
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return { method, path: ctx.originalUrl, headers, body };
}
