import { describe, expect, it } from 'vitest';
import { createAgentHooks } from '../../../src/clients/hooks.js';
import type { HookParts } from '../../../src/command/compose-session.js';
import type { Settings } from '../../../src/model/settings.js';
import { someSettings } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

/** What the hooks read of a run before anything is proposed. */
function partsWith(over: Partial<Settings>): HookParts {
  const cwd = tempDir();
  const opened = {
    settings: someSettings(over),
    cwd,
    env: {},
    folder: { dir: cwd },
    bus: { emit: () => undefined },
  };
  return { opened, store: {}, root: cwd, isTest: () => false } as unknown as HookParts;
}

describe('the hooks of a run', () => {
  it.each([
    ['remembered fixes, then the built-in fixer', {}, 2, true],
    ['the fixer alone without a memory of fixes', { memory: { fixes: false } }, 1, false],
    ['remembered fixes alone without the fixer', { fixer: 'none' }, 1, true],
    ['nothing without both', { fixer: 'none', memory: { fixes: false } }, 0, false],
  ] satisfies [string, Partial<Settings>, number, boolean][])(
    'ME-8 propose %s',
    async (_, over, count, learns) => {
      const hooks = await createAgentHooks(partsWith(over));
      expect(hooks.proposers).toHaveLength(count);
      expect(hooks.onAttemptEnd !== undefined).toBe(learns);
    },
  );
});
