import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { isCode } from '../../code/imports.js';
import type { Hunk } from '../../model/blame.js';
import type { Cause } from '../../model/cause.js';
import type { Location, TestError } from '../../model/failure.js';
import { findFrames } from '../../evidence/source-maps/frames.js';
import { git } from '../../workspace/git.js';
import { resolveLinks, relativePath } from '../../paths.js';
import { tryOr } from '../../result.js';
import { proposeLocatorFix, type DriftEvidence } from './drifted-locator.js';
import type { SourceText } from './locator-names.js';
import type { FixerProposal } from './proposal.js';
import { findRemovingChanges, containsName, findRename } from './renames.js';
import { addMissingWaits } from './missing-waits.js';
import { runCodeFixes } from './run-code-fixes.js';

/** The project in which the built-in fixer works. */
export interface FixerProject {
  /** The project's root. */
  readonly cwd: string;
  /** The root of the working tree: the repository around the project, or the project itself. */
  readonly root: string;
  /** True if a file belongs to the tests, by its path from the root. */
  readonly isTest: (file: string) => boolean;
}

/** Returns a fix for a cause; null unless the fixer is sure of one. Changes no files. */
export type Fixer = (cause: Cause) => Promise<FixerProposal | null>;

/** Creates the built-in fixer for one run (BF-1). It needs no account, no model and no network. */
export function createFixer(location: FixerProject, fixCode = runCodeFixes): Fixer {
  const project = { ...location, root: realpathSync(location.root) };
  return async (cause) => {
    if (cause.flake) return addMissingWaits(cause);
    const output = findCompilerErrors(cause);
    const fix = output === null ? null : await fixCode(output, [project.cwd, project.root]);
    return fix ?? proposeRename(cause, project);
  };
}

/** Returns the compiler's output for a build error, or null for any other failure. */
function findCompilerErrors({ lead }: Cause): string | null {
  const { failure, evidence, diagnosis } = lead;
  if (diagnosis.category !== 'build-error') return null;
  const texts = [
    ...evidence.errors.flatMap(({ message, stack }) => [message, stack ?? '']),
    evidence.serverOutput,
    ...(failure.scope === 'suite' ? [failure.stderr] : []),
  ];
  return stripVTControlCharacters(texts.join('\n'));
}

/** Proposes to change a locator to the name that the app now uses. */
async function proposeRename(cause: Cause, project: FixerProject): Promise<FixerProposal | null> {
  const { failure, evidence, diagnosis } = cause.lead;
  const { locator } = diagnosis.facts;
  const { elements, ariaSnapshot, errors } = evidence;
  if (failure.scope === 'suite' || locator === null || !elements || ariaSnapshot === null) return null;
  return proposeLocatorFix({
    locator,
    isExpectation: errors.some(({ message }) => /\bexpect\b.*\(/.test(message.split('\n')[0] ?? '')),
    foundElement: errors.some(({ message }) => /\bresolved to\b/.test(message)),
    page: { elements, ariaSnapshot },
    frames: cause.members.flatMap((member) => member.failure.errors.flatMap(listFrames)),
    findRename: async (name, candidates) => {
      const hunks = await findRemovingChanges(name, project.root, listBlamedHunks(cause, project));
      return findRename(
        hunks.filter(({ file }) => !project.isTest(file)),
        name,
        candidates,
      );
    },
    searchCode: (name) => searchCode(name, project),
  });
}

/** Returns the blamed hunks, with paths relative to the repository. Omits whole files, because a deleted file may have been moved, which git detects. */
export function listBlamedHunks(
  { blame }: Pick<Cause, 'blame'>,
  { cwd, root }: Pick<FixerProject, 'cwd' | 'root'>,
): Hunk[] {
  return (blame?.hunks ?? []).flatMap(({ whole, file, old, now }) =>
    whole ? [] : [{ file: relativePath(root, path.resolve(cwd, file)), old, now }],
  );
}

async function searchCode(
  name: string,
  { root, isTest }: Pick<FixerProject, 'root' | 'isTest'>,
): ReturnType<DriftEvidence['searchCode']> {
  const output = await git(root, ['grep', '-z', '-l', '-I', '-F', '--untracked', '-e', name]);
  const tests: SourceText[] = [];
  let isInApp = false;
  for (const gitPath of (output ?? '').split('\0').filter(Boolean)) {
    const file = path.join(root, gitPath);
    const text = await readFile(file, 'utf8').catch(() => '');
    if (!containsName(text, name)) continue;
    if (isTest(gitPath) && isCode(gitPath)) tests.push({ file, text });
    else isInApp = true;
  }
  return { tests, isInApp };
}

/** Returns the positions in an error that refer to files on disk. */
function listFrames({ location, stack }: Pick<TestError, 'location' | 'stack'>): Location[] {
  const stackFrames = findFrames(stripVTControlCharacters(stack ?? '')).flatMap(
    ({ address, line, column }) => {
      // A URL in a log may not name a file on this machine.
      const file = address.startsWith('file:///') ? tryOr(null, () => fileURLToPath(address)) : address;
      return file !== null && path.isAbsolute(file) ? [{ file, line, column }] : [];
    },
  );
  return [...(location ? [location] : []), ...stackFrames].map((frame) => ({
    ...frame,
    file: resolveLinks(frame.file),
  }));
}
