import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { FixToRead } from '../../agents/review-prompt.js';
import { listChanges } from '../../agents/changes.js';
import { isCode } from '../../code/imports.js';
import type { Cause, DiagnosedFailure } from '../../model/cause.js';
import { isInside, relativePath } from '../../paths.js';
import { tryOr } from '../../result.js';
import { createLastGreenLookup } from '../../run/last-green.js';
import { listCommitsSince, findRecentCommit } from '../../workspace/candidates.js';
import type { Contents } from '../../workspace/change.js';
import type { FileEdit, FileState } from '../../workspace/file-state.js';
import { git, gitList } from '../../workspace/git.js';
import { compareFile } from '../../workspace/hunks.js';
import {
  type FileStates,
  isDocument,
  type ProjectText,
  rulesAbout,
  testSource,
  touchedCode,
  withWish,
} from './fix-facts.js';

/** A fix that is in the project's tree. */
export interface FixInTree {
  readonly cause: Pick<Cause, 'lead' | 'blame'>;
  /** The edits of all attempts that make it up, oldest first. */
  readonly edits: readonly FileEdit[];
  /** As people see it. */
  readonly patch: string;
  /** The names of the tests that are green with it. */
  readonly ran: readonly string[];
  /** What is known to be worth a look. */
  readonly facts: readonly string[];
}

interface Project {
  readonly root: string;
  /** The project's folder, which the paths of the prompt are relative to. */
  readonly cwd: string;
  readonly contents: Contents;
  readonly clean: (text: string) => string;
}

/** Gathers what a reader of a fix is told (HN-11), while the fix is in the tree. */
export async function gatherFix(project: Project, fix: FixInTree): Promise<FixToRead> {
  const { root, cwd } = project;
  const { lead, blame } = fix.cause;
  const green = blame?.base.commit ?? (await greenCommit(project, fix));
  const files = await fixedFiles(project, fix.edits, green);
  const { failure } = lead;
  const test = failure.scope === 'test' ? failure.test : null;
  const spec = test && readText(test.location.file);
  return {
    test: {
      // Its place names the file.
      name: test && test.titlePath.slice(1).join(' › '),
      at: test && `${relativePath(cwd, test.location.file)}:${test.location.line}`,
      source: spec ? testSource(test.location.file, spec, test.location.line) : null,
    },
    green,
    culprit: blame
      ? { isProven: true, hunks: blame.hunks }
      : { isProven: false, hunks: await suspectedHunks(project, { lead, files, green }) },
    patch: fix.patch,
    code: touchedCode(files),
    rules: rulesAbout(files, await textsOf({ root, cwd, green, files })),
    error: [...new Set(lead.evidence.errors.map(({ message }) => message))].join('\n\n'),
    ran: fix.ran,
    facts: fix.facts.map((fact) => withWish(fact, spec)),
  };
}

/** Returns a commit at which the test was green or, as for blame, the one before the latest changes. */
async function greenCommit(
  { root, cwd, contents }: Project,
  { cause: { lead }, edits }: FixInTree,
): Promise<string | null> {
  const known = await createLastGreenLookup(cwd)(lead);
  if (known !== null) return known.commit;
  for (const { path: file, before } of edits)
    if ((await committed(root, 'HEAD', file)) !== (await textOf(before, contents)))
      return (await git(root, ['rev-parse', 'HEAD']))?.trim() ?? null;
  return findRecentCommit(root);
}

async function fixedFiles(
  { root, cwd, contents }: Project,
  edits: readonly FileEdit[],
  green: string | null,
): Promise<FileStates[]> {
  const states = new Map<string, { red: FileState | null; now: FileState | null }>();
  for (const { path: file, before, after } of edits)
    states.set(file, { red: states.has(file) ? (states.get(file)?.red ?? null) : before, now: after });
  return Promise.all(
    [...states].map(async ([file, { red, now }]) => ({
      path: relativePath(cwd, path.join(root, file)),
      ...(green === null ? {} : { green: await committed(root, green, file) }),
      red: await textOf(red, contents),
      now: await textOf(now, contents),
    })),
  );
}

async function textOf(state: FileState | null, contents: Contents): Promise<string | null> {
  return state?.kind === 'file' ? (await contents.get(state.hash)).toString('utf8') : null;
}

const committed = (root: string, commit: string, file: string) => git(root, ['show', `${commit}:${file}`]);

const styles = /\.(?:css|s[ac]ss|less|svg)$/;

/** Returns what changed in the files that the fix touches, and then what else may have broken the test. */
async function suspectedHunks(
  { root, cwd, clean }: Project,
  { lead, files, green }: { lead: DiagnosedFailure; files: readonly FileStates[]; green: string | null },
): Promise<FixToRead['culprit']['hunks']> {
  if (green === null) return [];
  const log = await listCommitsSince(root, green).catch(() => []);
  const own = files.flatMap((file) => {
    const inRoot = relativePath(root, path.join(cwd, file.path));
    const commit = log.find((logged) => logged.files.includes(inRoot))?.commit ?? null;
    return compareFile(file.path, file.green ?? null, file.red).hunks.map(
      ({ old, now, newStart, whole }) => ({
        file: file.path,
        line: newStart,
        old: old.map(withoutEnd),
        now: now.map(withoutEnd),
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
    lastGreen: async () => (green === null ? null : { commit: green, runDir: null }),
    isLeftOut: (file) => touched.has(file) || styles.test(file) || isDocument(file),
    clean,
  }).catch(() => null);
  return [...own, ...(others?.hunks.slice(0, 3) ?? [])];
}

const withoutEnd = (line: string) => line.replace(/\r?\n$/, '');

/** The most files that are read for what they say, and the longest, in characters. */
const TEXTS = 400;
const LONGEST = 200_000;

/** Returns the documents of the project, and the code around the fix, for its comments. */
async function textsOf({
  root,
  cwd,
  green,
  files,
}: Pick<Project, 'root' | 'cwd'> & {
  readonly green: string | null;
  readonly files: readonly FileStates[];
}): Promise<ProjectText[]> {
  const folders = new Set(files.map((file) => path.posix.dirname(file.path).split('/')[0] ?? ''));
  const isNear = (file: string) => folders.has(path.posix.dirname(file).split('/')[0] ?? '');
  const isRead = (file: string) => isDocument(file) || (isCode(file) && isNear(file));
  const listed = await gitList(cwd, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  const changed =
    green === null ? null : new Set(await gitList(cwd, ['diff', '--name-only', '--relative', '-z', green]));
  const texts: ProjectText[] = [];
  for (const file of listed.filter(isRead).slice(0, TEXTS)) {
    const text = isInside(root, path.resolve(cwd, file)) ? readText(path.join(cwd, file)) : null;
    if (text === null || text.length > LONGEST) continue;
    const isSame = changed !== null && !changed.has(file);
    const before = isSame || green === null ? text : await git(cwd, ['show', `${green}:./${file}`]);
    texts.push({ path: file, text, ...(green === null ? {} : { green: before }) });
  }
  return texts;
}

function readText(file: string): string | null {
  return tryOr(null, () => readFileSync(file, 'utf8'));
}
