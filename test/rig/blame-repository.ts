import path from 'node:path';
import { createSearchStarter } from '../../src/clients/blame/blame.js';
import type { Blame } from '../../src/model/blame.js';
import type { Cause } from '../../src/model/cause.js';
import { openContentStore, storeChange } from '../../src/workspace/change.js';
import { type AgentWorkspace, agentWorkspace, listInventory } from './agent-workspace.js';
import { aCause, aResult, aSuiteRun, failing } from './builders.js';

/** Joins lines, each with a line break. */
export const joinLines = (...some: string[]) => `${some.join('\n')}\n`;
const fillerLines = ['two', 'three', 'four', 'five'];
/** The files of the repository. */
export const files = {
  'src/a.ts': joinLines('one', ...fillerLines, 'six', ...fillerLines, 'eleven'),
  'src/b.ts': joinLines('one', ...fillerLines, 'six'),
  'tests/shop.spec.ts': joinLines('test'),
};

/** Creates a repository whose test is green if `green` returns true for its files; null means that the suite does not start. */
export async function repository(green: (read: (file: string) => string) => boolean | null, at = '') {
  const project = await agentWorkspace(
    Object.fromEntries(Object.entries(files).map(([file, text]) => [path.posix.join(at, file), text])),
    { at },
  );
  const told: (readonly [string | null, Blame | string])[] = [];
  let runs = 0;
  const find = (over: Partial<Parameters<typeof createSearchStarter>[0]> = {}) => {
    const begin = createSearchStarter({
      cwd: path.join(project.dir, at),
      workspace: project.workspace,
      contents: openContentStore(project.runDir),
      storeChange: (change) => storeChange(project.runDir, change),
      prepare: async () => null,
      rerun: async ({ ids }) => {
        runs += 1;
        const isGreen = green((file) => project.read(path.posix.join(at, file)));
        if (isGreen === null) return aSuiteRun();
        return aSuiteRun({
          tests: (ids ?? []).map((id) => aResult(id, isGreen ? 'expected' : 'unexpected')),
        });
      },
      computeSuiteSignature: async () => null,
      warn: (message) => void project.warnings.push(message),
      signal: new AbortController().signal,
      now: () => Date.now(),
      timeMs: 120_000,
      startedAt: Infinity,
      namedBase: null,
      findLastGreen: async () => null,
      reportPaths: [],
      findRelatedPositions: async () => [],
      isTest: (file) => file.includes('tests/'),
      report: (id, answer) => void told.push([id, answer]),
      ...over,
    });
    return async (causes: readonly Cause[]) => {
      const searches = await begin(causes);
      while (await searches.next());
      return Promise.all(
        causes.map(async (one) => {
          const blame = await searches.findBlame(one.id);
          return blame ? { ...one, blame } : one;
        }),
      );
    };
  };
  const commit = (subject: string, changed: Record<string, string>) => {
    project.write(
      Object.fromEntries(Object.entries(changed).map(([file, text]) => [path.posix.join(at, file), text])),
    );
    project.git('add', '--all');
    project.git('commit', '--quiet', '-m', subject);
    return project.git('rev-parse', 'HEAD');
  };
  return { project, find, commit, told, runs: () => runs };
}

/** Replaces one word of a text. */
export const replaceWord = (text: string, from: string, to: string) => text.replace(from, to);
/** The cause to be blamed on a change. */
export const cause = aCause({ lead: failing('t1') });

/** Returns the working tree, which a search must leave unchanged. */
export function readTree({ dir }: AgentWorkspace) {
  return listInventory(dir);
}
