import { createFixer } from './fixer/propose.js';
import type { HookParts, CreateHooks } from '../command/compose-session.js';
import type { Hooks } from '../heal/hooks.js';
import { createSecretNamer } from '../secrets/redactor.js';
import { openContentStore } from '../workspace/change.js';
import { createFixerProposer, createExpectationPatch } from './fixer/fixes.js';
import { createMemory } from './memory.js';
import { proposePatches, type RemoteFix } from './patches.js';

/** Creates the hooks of `self-heal run`: remembered fixes, then the built-in fixer, then agents. */
export const createAgentHooks: CreateHooks = async (parts) => {
  const { fixer, memory } = await createBaseHooks(parts);
  return { ...memory, ...createExpectationHook(parts), proposers: [...memory.proposers, ...fixer] };
};

/** Creates the hooks for healing with fixes from other machines, without agents. */
export function createPatchHooks(patches: readonly RemoteFix[]): CreateHooks {
  return async (parts) => {
    const { fixer, memory } = await createBaseHooks(parts);
    const proposers = [proposePatches(patches), ...memory.proposers, ...fixer];
    return {
      ...memory,
      ...createExpectationHook(parts),
      proposers,
      noAgents: 'no patch from another machine fixes it',
    };
  };
}

/** Creates the hooks for healing only with the patch that a person chose. */
export const createChoiceHooks: CreateHooks = async (parts) => {
  const { memory } = await createBaseHooks(parts);
  return { ...memory, proposers: [], noAgents: 'only the patch that a person has chosen was tried' };
};

/** Creates the built-in fixer and the memory, which need no agent. */
async function createBaseHooks({ opened, store, root, isTest }: HookParts) {
  const { settings, bus, folder, cwd, env } = opened;
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  const fixer =
    settings.fixer === 'none' ? [] : [createFixerProposer(createFixer({ cwd, root, isTest }), warn)];
  if (!settings.memory.fixes) return { fixer, memory: { proposers: [] } };
  const listSecretNames = await createSecretNamer({ env, projectRoot: cwd });
  const { propose, rememberAttempt } = createMemory({ store, folder, root, listSecretNames, warn });
  return { fixer, memory: { proposers: [propose], onAttemptEnd: rememberAttempt } };
}

function createExpectationHook({
  opened: { settings, folder },
  root,
}: HookParts): Pick<Hooks, 'proposeExpectations'> {
  if (settings.verify.intent === 'tests') return {};
  return {
    proposeExpectations: (cause) =>
      createExpectationPatch(cause, { root, contents: openContentStore(folder.dir) }),
  };
}
