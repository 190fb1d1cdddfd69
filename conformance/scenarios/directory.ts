// The directory: who sees whom.
import { holds, namesOf, refused, same } from '../expect.js';
import type { Scenario } from '../scenario.js';
import { listOf, memberOf, textOf } from '../wire/json.js';

const path = '/federation/v1/directory';

export const directory: Scenario = {
  name: 'directory',
  about: 'a principal is listed to those who may see it, and a bad signature sees nothing',
  needs: ['reachable', 'pinned'],
  checks: ['DISCOVERY-14', 'DISCOVERY-15', 'NAMES-5', 'NAMES-10'],
  async run(stage, { check }) {
    const { peer, target, quiet } = stage;
    await check('DISCOVERY-14', 'a pinned peer sees agents of the default visibility', async () => {
      const reply = await peer.get(`${path}?limit=200`);
      same(reply.status, 200, 'the status');
      holds(namesOf(reply).includes(quiet), `${quiet} is not listed`);
      for (const item of listOf(reply.json, 'items')) {
        for (const name of ['principal_id', 'kind']) holds(textOf(item, name) !== '', `${name} is missing`);
        same(typeof memberOf(item, 'display_name'), 'string', 'the type of display_name');
      }
    });
    await check('DISCOVERY-14', 'the public does not see them', async () =>
      holds(!namesOf(await target.get(`${path}?limit=200`)).includes(quiet), `${quiet} is listed`),
    );
    await check('DISCOVERY-15', 'a stranger who signs sees what the public sees', async () => {
      const [stranger, everybody] = [await stage.play('stranger').get(path), await target.get(path)];
      same(stranger.status, 200, 'the status');
      same(namesOf(stranger).join(), namesOf(everybody).join(), 'the list');
    });
    await check('DISCOVERY-15', 'a signature that does not hold is refused', async () =>
      refused(await peer.get(path, { signature: (signature) => Buffer.from(signature).reverse() }), 401),
    );
    await check('NAMES-5', 'every address that is listed is one', async () => {
      const pattern = new RegExp(
        `^(agent://${target.domain}/agents|human://${target.domain}/users|service://${target.domain})/[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$`,
      );
      for (const name of namesOf(await peer.get(`${path}?limit=200`)))
        holds(pattern.test(name) && name.length <= 255, name);
    });
    await check('NAMES-10', 'a principal id is the same from one look to the next', async () => {
      const idOf = async () => {
        const reply = await peer.get(`${path}?limit=200`);
        return textOf(
          listOf(reply.json, 'items').find((item) => textOf(item, 'address') === quiet),
          'principal_id',
        );
      };
      const first = await idOf();
      holds(/^prn_[A-Za-z0-9_-]{43}$/.test(first), `${first} is no principal id`);
      same(await idOf(), first, 'the principal id');
    });
  },
};
