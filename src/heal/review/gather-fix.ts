import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { FixToReview } from '../../agents/review-prompt.js';
import { listChanges } from '../../agents/changes.js';
import { isCode } from '../../code/imports.js';
import type { Cause, DiagnosedFailure } from '../../model/cause.js';
import { isInside, relativePath } from '../../paths.js';
import { tryOr } from '../../result.js';
import { createLastGreenLookup } from '../../run/last-green.js';
import { listCommitsSince } from '../../workspace/candidates.js';
import type { ContentStore } from '../../workspace/change.js';
import type { FileEdit } from '../../workspace/file-state.js';
import { gitList } from '../../workspace/git.js';
import type { GitChanges } from '../../workspace/git-trees.js';
import { compareFile } from '../../workspace/hunks.js';
import { listChangesSinceGreen, readFixedFiles, readGreenTexts } from '../attempt/since-green.js';
import type { FixedFile } from '../attempt/reverted-hunks.js';
import {
  isDocument,
  type ProjectText,
  findRules,
  readTestSource,
  findTouchedCode,
  noteIfTestNamesError,
} from './fix-facts.js';

/** A fix that is in the working tree. */
export interface FixInTree {
  readonly cause: Pick<Cause, 'lead' | 'blame'>;
  /** The edits of all attempts that make it up, oldest first. */
  readonly edits: readonly FileEdit[];
  /** The masked patch that people see. */
  readonly patch: string;
  /** The names of the tests that are green with it. */
  readonly ran: readonly string[];
  /** Facts that a reviewer should know. */
  readonly facts: readonly string[];
}

interface Project {
  readonly root: string;
  /** The project's folder. Paths in the prompt are relative to it. */
  readonly cwd: string;
  readonly contents: ContentStore;
  readonly clean: (text: string) => string;
}

/** Gathers the information for a reviewer of a fix (HN-11), while the fix is in the tree. */
export async function gatherFix(project: Project, fix: FixInTree): Promise<FixToReview> {
  const { root, cwd } = project;
  const { lead, blame } = fix.cause;
  const { since, files } = await readStates(project, fix);
  const { failure } = lead;
  const test = failure.scope === 'test' ? failure.test : null;
  const spec = test && readText(test.location.file);
  return {
    test: {
      // Without the file, which `at` names.
      name: test && test.titlePath.slice(1).join(' › '),
      at: test && `${relativePath(cwd, test.location.file)}:${test.location.line}`,
      source: spec ? readTestSource(test.location.file, spec, test.location.line) : null,
    },
    green: since?.base ?? null,
    culprit: blame
      ? { isProven: true, hunks: blame.hunks }
      : { isProven: false, hunks: await listSuspectedHunks(project, { lead, files, since }) },
    patch: fix.patch,
    code: findTouchedCode(files),
    rules: findRules(files, await listProjectTexts({ root, cwd, since, files })),
    error: [...new Set(lead.evidence.errors.map(({ message }) => message))].join('\n\n'),
    greenTests: fix.ran,
    facts: fix.facts.map((fact) => noteIfTestNamesError(fact, spec)),
  };
}

/** Reads the files of a fix without it, with it, and in the newest earlier state that differs and in which its test may have been green. */
async function readStates(
  project: Project,
  { cause: { lead }, edits }: FixInTree,
): Promise<{ readonly since: GitChanges | null; readonly files: readonly FixedFile[] }> {
  const { root, cwd } = project;
  const readFilesSince = async (since: GitChanges | null) => {
    const files = await readFixedFiles(project, edits, since);
    const toCwd = (file: FixedFile) => ({
      ...file,
      path: relativePath(cwd, path.join(root, file.path)),
    });
    return { since, files: files.map(toCwd) };
  };
  let states = await readFilesSince(null);
  for (const since of await listChangesSinceGreen(cwd, lead)) {
    states = await readFilesSince(since);
    if (states.files.some(({ green, red }) => green !== red)) break;
  }
  return states;
}

const stylesheet = /\.(?:css|s[ac]ss|less|svg)$/;

/** Returns the changes to the files that the fix touches, and then other changes that may have broken the test. */
async function listSuspectedHunks(
  { root, cwd, clean }: Project,
  { lead, files, since }: { lead: DiagnosedFailure; files: readonly FixedFile[]; since: GitChanges | null },
): Promise<FixToReview['culprit']['hunks']> {
  if (since === null) return [];
  const log = await listCommitsSince(root, since.base).catch(() => []);
  const fileHunks = files.flatMap((file) => {
    const inRoot = relativePath(root, path.join(cwd, file.path));
    const commit = log.find((logged) => logged.files.includes(inRoot))?.commit ?? null;
    return compareFile(file.path, file.green ?? null, file.red).hunks.map(
      ({ old, now, newStart, whole }) => ({
        file: file.path,
        line: newStart,
        old: old.map(stripLineEnding),
        now: now.map(stripLineEnding),
        whole,
        commit,
      }),
    );
  });
  const touched = new Set(files.map((file) => relativePath(root, path.join(cwd, file.path))));
  const others = await listChanges({
    root: cwd,
    tree: cwd,
    lead,
    findLastGreen: createLastGreenLookup(cwd),
    isExcluded: (file) => touched.has(file) || stylesheet.test(file) || isDocument(file),
    clean,
  }).catch(() => null);
  return [...fileHunks, ...(others?.hunks.slice(0, 3) ?? [])];
}

const stripLineEnding = (line: string) => line.replace(/\r?\n$/, '');

/** The maximum number of files to search for documented rules, and the length in characters of the longest. */
const MAX_TEXTS = 400;
const MAX_TEXT_LENGTH = 200_000;

/** Returns the documents of the project, and the code near the fix, whose comments may contain rules. */
async function listProjectTexts({
  root,
  cwd,
  since,
  files,
}: Pick<Project, 'root' | 'cwd'> & {
  readonly since: GitChanges | null;
  readonly files: readonly FixedFile[];
}): Promise<ProjectText[]> {
  const folders = new Set(files.map((file) => path.posix.dirname(file.path).split('/')[0] ?? ''));
  const isNear = (file: string) => folders.has(path.posix.dirname(file).split('/')[0] ?? '');
  const shouldRead = (file: string) => isDocument(file) || (isCode(file) && isNear(file));
  const listed = await gitList(cwd, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  const texts = listed
    .filter(shouldRead)
    .slice(0, MAX_TEXTS)
    .flatMap((file) => {
      const text = isInside(root, path.resolve(cwd, file)) ? readText(path.join(cwd, file)) : null;
      return text === null || text.length > MAX_TEXT_LENGTH ? [] : [{ path: file, text }];
    });
  if (since === null) return texts;
  const changed = new Set(since.changes.map((change) => path.join(since.root, change.path)));
  const hasChanged = (file: string) => changed.has(path.join(cwd, file));
  const green = await readGreenTexts(since, cwd, texts.map((text) => text.path).filter(hasChanged));
  return texts.map(({ path: file, text }) => ({
    path: file,
    text,
    green: hasChanged(file) ? (green.get(file) ?? null) : text,
  }));
}

function readText(file: string): string | null {
  return tryOr(null, () => readFileSync(file, 'utf8'));
}
