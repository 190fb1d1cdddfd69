import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSettings } from '../../src/config.js';
import { runCli } from './cli-world.js';

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');

describe('the README', () => {
  it('names every setting with its meaning, and no other', () => {
    const rows = [...readme.matchAll(/^\| `(HEARTH_\w+)` \| .* \| (.+) \|$/gm)].map(([, variable, meaning]) => ({
      variable,
      meaning,
    }));
    expect(rows).toEqual(describeSettings().map(({ variable, description }) => ({ variable, meaning: description })));
  });

  it('shows only commands that exist', async () => {
    const shown = [
      ...readme.matchAll(/^\$? ?(?:alpha|beta|node dist\/cli\/hearth.js) ([a-z]+(?: (?:pin|create|list|events))?)/gm),
    ].map(([, command]) => command ?? '');
    expect(shown).toContain('peer pin');
    for (const command of new Set(shown)) {
      expect({ command, ...(await runCli([...command.split(' '), '--help'])) }).toMatchObject({ exitCode: 0 });
    }
  });
});
