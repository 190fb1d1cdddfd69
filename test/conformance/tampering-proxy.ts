// A layer between the suite and a real domain that may change, hold back or repeat whatever passes: how wrong servers are made.
import { createServer, request as send } from 'node:http';

export interface Passing {
  method: string;
  path: string;
  fields: [string, string][];
  body: Buffer;
}

export interface Returning {
  status: number;
  fields: [string, string][];
  body: Buffer;
}

type Forward = (request: Passing) => Promise<Returning>;
export type Tamper = (request: Passing, forward: Forward) => Promise<Returning>;

export interface TamperingProxy {
  host: string;
  port: number;
  url: string;
  /** Nothing is changed unless something is set. */
  tamper: Tamper;
  close(): Promise<void>;
}

const honest: Tamper = (request, forward) => forward(request);

export async function startTamperingProxy(forwardTo: () => string): Promise<TamperingProxy> {
  const forward: Forward = (request) => pass(request, forwardTo());
  const server = createServer(async (incoming, outgoing) => {
    try {
      const { rawHeaders } = incoming;
      const fields = rawHeaders.flatMap((name, at): [string, string][] =>
        at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
      );
      const request: Passing = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        fields,
        body: await wholeOf(incoming),
      };
      const { status, fields: back, body } = await proxy.tamper(request, forward);
      const framing = ['content-length', 'transfer-encoding', 'connection'];
      outgoing.writeHead(status, back.filter(([name]) => !framing.includes(name.toLowerCase())).flat()).end(body);
    } catch {
      outgoing.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const proxy: TamperingProxy = {
    host: '127.0.0.1',
    port,
    url: `http://127.0.0.1:${port}`,
    tamper: honest,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

function pass({ method, path, fields, body }: Passing, origin: string): Promise<Returning> {
  return new Promise((resolve, reject) => {
    // The path is handed on as it came; a URL would tidy it.
    const { hostname, port } = new URL(origin);
    const framed = fields.filter(([name]) => !['content-length', 'transfer-encoding'].includes(name.toLowerCase()));
    const length: [string, string][] = body.byteLength > 0 ? [['content-length', String(body.byteLength)]] : [];
    const request = send({ hostname, port, method, path, headers: [...framed, ...length].flat(), agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      const { rawHeaders } = response;
      const back = rawHeaders.flatMap((name, at): [string, string][] =>
        at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
      );
      wholeOf(response).then(
        (whole) => resolve({ status: response.statusCode ?? 0, fields: back, body: whole }),
        reject,
      );
    });
    request.end(body);
  });
}

async function wholeOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
