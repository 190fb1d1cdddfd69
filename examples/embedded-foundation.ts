// An agent in one program: no home, no peers, no doors. Give a PostgreSQL URL, or a directory for one of its own.
import { functionRuntime, openFoundation } from 'hearth/foundation';

const foundation = await openFoundation({
  database: process.env.DATABASE_URL ?? { directory: './embedded-data' },
  runtimes: [functionRuntime({ id: 'shout', run: (data) => `${String(data).toUpperCase()}!` })],
  agents: [{ name: 'shouter', runtime: 'shout', subscriptions: ['words.*'] }],
});

// Told by name, and woken by what it subscribed to. Under one event id an input is one, however often it is sent.
const told = await foundation.send({ to: 'shouter', type: 'say.this', data: 'hello', eventId: 'hello-1' });
const woken = await foundation.send({ type: 'words.heard', data: 'anybody there' });

for (const input of [told, woken]) {
  const { runs } = await foundation.outcome(input);
  for (const run of runs) console.log(run.status, run.result);
}
await foundation.close();
