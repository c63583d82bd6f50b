import { createFixer } from './fixer/propose.js';
import type { HookParts, MakeHooks } from '../command/compose-session.js';
import type { Hooks } from '../heal/hooks.js';
import { knownSecrets } from '../secrets/redactor.js';
import { openContents } from '../workspace/change.js';
import { fixesOf, followingPatch } from './fixer/fixes.js';
import { createMemory } from './memory.js';
import { proposePatches, type RemoteFix } from './patches.js';

/** Healing as in `self-heal run`: by remembered fixes, then by the built-in fixer, then by agents. */
export const byAgents: MakeHooks = async (parts) => {
  const { fixer, memory } = await freeHooks(parts);
  return { ...memory, ...follow(parts), proposers: [...memory.proposers, ...fixer] };
};

/** Healing by the fixes of other machines; no agent is started. */
export function byPatches(patches: readonly RemoteFix[]): MakeHooks {
  return async (parts) => {
    const { fixer, memory } = await freeHooks(parts);
    const proposers = [proposePatches(patches), ...memory.proposers, ...fixer];
    return { ...memory, ...follow(parts), proposers, noAgents: 'no patch of another machine fixes it' };
  };
}

/** Healing only by the patch that a person has chosen. */
export const byChoice: MakeHooks = async (parts) => {
  const { memory } = await freeHooks(parts);
  return { ...memory, proposers: [], noAgents: 'only the patch that a person has chosen was tried' };
};

/** The hooks that need no agent: the built-in fixer and the memory. */
async function freeHooks({ opened, store, root, isTest }: HookParts) {
  const { settings, bus, folder, cwd, env } = opened;
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  const fixer = settings.fixer === 'none' ? [] : [fixesOf(createFixer({ cwd, root, isTest }), warn)];
  if (!settings.memory.fixes) return { fixer, memory: { proposers: [] } };
  const secretsIn = await knownSecrets({ env, projectRoot: cwd });
  const { propose, attemptEnded } = createMemory({ store, folder, root, secretsIn, warn });
  return { fixer, memory: { proposers: [propose], attemptEnded } };
}

function follow({ opened: { settings, folder }, root }: HookParts): Pick<Hooks, 'follow'> {
  if (settings.verify.intent === 'tests') return {};
  return { follow: (cause) => followingPatch(cause, { root, contents: openContents(folder.dir) }) };
}
