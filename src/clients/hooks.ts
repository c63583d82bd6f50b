import { createFixer } from './fixer/propose.js';
import type { HookParts, MakeHooks } from '../command/compose-session.js';
import type { Hooks } from '../heal/hooks.js';
import { knownSecrets } from '../secrets/redactor.js';
import { contentsOf } from '../workspace/change.js';
import { fixesOf, followingPatch } from './fixer/fixes.js';
import { createMemory } from './memory.js';
import { type MadeElsewhere, patchesOf } from './patches.js';

/** Healing as `self-heal run` does it: what is remembered, then the built-in fixer, then agents. */
export const byAgents: MakeHooks = async (parts) => {
  const { fixer, memory } = await freeHooks(parts);
  return { ...memory, ...follow(parts), proposers: [...memory.proposers, ...fixer] };
};

/** Healing by the fixes that other machines have made; no agent is started. */
export function byPatches(patches: readonly MadeElsewhere[]): MakeHooks {
  return async (parts) => {
    const { fixer, memory } = await freeHooks(parts);
    const proposers = [patchesOf(patches), ...memory.proposers, ...fixer];
    return { ...memory, ...follow(parts), proposers, noAgents: 'no patch of another machine fixes it' };
  };
}

/** Healing by what a person has chosen, and nothing else. */
export const byChoice: MakeHooks = async (parts) => {
  const { memory } = await freeHooks(parts);
  return { ...memory, proposers: [], noAgents: 'only the patch that a person has chosen was tried' };
};

/** What needs no agent: the built-in fixer, and the memory. */
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
  return { follow: (cause) => followingPatch(cause, { root, contents: contentsOf(folder.dir) }) };
}
