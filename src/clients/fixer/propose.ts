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
import { real, relativePath } from '../../paths.js';
import { tryOr } from '../../result.js';
import { driftedLocator, type DriftEvidence } from './drifted-locator.js';
import type { SourceText } from './locator-names.js';
import type { FixerProposal } from './proposal.js';
import { changesThatRemoved, holds, renamedTo } from './renames.js';
import { settledSteps } from './settled-steps.js';
import { runCodeFixes } from './run-code-fixes.js';

/** Where the built-in fixer works. */
export interface FixerProject {
  /** The project's root. */
  readonly cwd: string;
  /** The root of the working tree: the repository around the project, or the project itself. */
  readonly root: string;
  /** Whether a file belongs to the tests, by its path from the root. */
  readonly isTest: (file: string) => boolean;
}

/** Returns a fix for a cause that the built-in fixer is sure of; null if there is none. Changes nothing. */
export type Fixer = (cause: Cause) => Promise<FixerProposal | null>;

/** Creates the built-in fixer for one run (BF-1). It needs no account, no model and no network. */
export function createFixer(given: FixerProject, fixCode = runCodeFixes): Fixer {
  const project = { ...given, root: realpathSync(given.root) };
  return async (cause) => {
    if (cause.flake) return settledSteps(cause);
    const output = compilerErrors(cause);
    const fix = output === null ? null : await fixCode(output, [project.cwd, project.root]);
    return fix ?? proposeRename(cause, project);
  };
}

/** Returns the output about a build error, or null for any other failure. */
function compilerErrors({ lead }: Cause): string | null {
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
  return driftedLocator({
    locator,
    isExpectation: errors.some(({ message }) => /\bexpect\b.*\(/.test(message.split('\n')[0] ?? '')),
    foundSome: errors.some(({ message }) => /\bresolved to\b/.test(message)),
    page: { elements, ariaSnapshot },
    frames: cause.members.flatMap((member) => member.failure.errors.flatMap(framesOf)),
    renamedTo: async (name, candidates) => {
      const hunks = await changesThatRemoved(name, project.root, blamedIn(cause, project));
      return renamedTo(
        hunks.filter(({ file }) => !project.isTest(file)),
        name,
        candidates,
      );
    },
    search: (name) => search(name, project),
  });
}

/**
 * Returns the hunks to blame, with paths from the repository. Whole files are left out, since a deleted file may have been moved, which git
 * detects.
 */
export function blamedIn(
  { blame }: Pick<Cause, 'blame'>,
  { cwd, root }: Pick<FixerProject, 'cwd' | 'root'>,
): Hunk[] {
  return (blame?.hunks ?? []).flatMap(({ whole, file, old, now }) =>
    whole ? [] : [{ file: relativePath(root, path.resolve(cwd, file)), old, now }],
  );
}

async function search(
  name: string,
  { root, isTest }: Pick<FixerProject, 'root' | 'isTest'>,
): ReturnType<DriftEvidence['search']> {
  const output = await git(root, ['grep', '-z', '-l', '-I', '-F', '--untracked', '-e', name]);
  const tests: SourceText[] = [];
  let inApp = false;
  for (const gitPath of (output ?? '').split('\0').filter(Boolean)) {
    const file = path.join(root, gitPath);
    const text = await readFile(file, 'utf8').catch(() => '');
    if (!holds(text, name)) continue;
    if (isTest(gitPath) && isCode(gitPath)) tests.push({ file, text });
    else inApp = true;
  }
  return { tests, inApp };
}

/** Returns the positions in an error that are files on disk. */
function framesOf({ location, stack }: Pick<TestError, 'location' | 'stack'>): Location[] {
  const ofStack = findFrames(stripVTControlCharacters(stack ?? '')).flatMap(({ address, line, column }) => {
    // A log may contain a URL that names no file here.
    const file = address.startsWith('file:///') ? tryOr(null, () => fileURLToPath(address)) : address;
    return file !== null && path.isAbsolute(file) ? [{ file, line, column }] : [];
  });
  return [...(location ? [location] : []), ...ofStack].map((frame) => ({ ...frame, file: real(frame.file) }));
}
