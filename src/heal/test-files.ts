import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { SuitePaths } from '../guard/request.js';
import { specName, createTestPathPredicate } from '../guard/test-paths.js';
import type { Cause } from '../model/cause.js';
import { type Failure, failureKey } from '../model/failure.js';
import { relativePath } from '../paths.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { tryOr } from '../result.js';
import type { Change, ContentStore } from '../workspace/change.js';
import { hashContent } from '../workspace/file-state.js';
import { createProjectSnapshot } from '../workspace/project-files.js';
import type { Workspace } from '../workspace/workspace.js';

/** The maximum number of files to watch. No suite has more, but a test folder may contain any number of other files. */
const MAX_FILES = 5_000;

/** The state of a file; null if it did not exist. */
type FileVersion = { readonly mtimeMs: number; readonly size: number; readonly hash: string } | null;

/** The id of other people's change. Changes of agents and of blame have different ids. */
const EDIT_ID = '800000000';

/**
 * Notices other people's edits to tests during a run (HN-3). A test that turns green after an edit to its file, or to a file that tests share, is
 * neither healed nor flaky, unless the edit is part of a fix.
 */
export class TestFiles {
  readonly #root: string;
  readonly #workspace: Pick<Workspace, 'listEditedFiles'>;
  readonly #specs: ReadonlySet<string>;
  /** The content of each file when healing began. */
  readonly #firstContents = new Map<string, Buffer | null>();
  #versions = new Map<string, FileVersion>();
  /** The state of the files when each test was last red, by test id. */
  readonly #versionsWhenRed = new Map<string, ReadonlyMap<string, FileVersion>>();
  readonly #edited = new Map<string, readonly string[]>();

  constructor(
    root: string,
    {
      suitePaths,
      files,
      workspace,
    }: { suitePaths: SuitePaths; files: readonly string[]; workspace: Pick<Workspace, 'listEditedFiles'> },
  ) {
    [this.#root, this.#workspace] = [root, workspace];
    this.#specs = new Set(suitePaths.testFiles);
    for (const file of files) this.#firstContents.set(file, this.#read(file));
    this.#readAll();
  }

  /** Records the files with which the tests of a run were red, and notices those that changed before they were green. */
  observe(run: Pick<SuiteRun, 'tests'>): void {
    this.#readAll();
    for (const { test, outcome } of run.tests) {
      this.#edited.delete(test.id);
      if (outcome === 'unexpected') this.#versionsWhenRed.set(test.id, this.#versions);
      const before = this.#versionsWhenRed.get(test.id);
      if (outcome === 'unexpected' || !before) continue;
      const changed = this.#listEditsSince(before, relativePath(this.#root, test.location.file));
      if (changed.length > 0) this.#edited.set(test.id, changed);
    }
  }

  /** Returns the files of a test that somebody edited between its last red run and its newest green one. */
  listEditsToTest(failure: Failure): readonly string[] {
    return this.#edited.get(failureKey(failure)) ?? [];
  }

  /** Returns all edits as one change, so that a person can see and revert them. */
  async createChange(contents: ContentStore): Promise<Change> {
    const files = [...new Set([...this.#edited.values()].flat())];
    const storeState = async (bytes: Buffer | null) =>
      bytes && ({ kind: 'file', hash: await contents.put(bytes), mode: 0o644 } as const);
    const edits = await Promise.all(
      files.map(async (file) => ({
        path: file,
        before: await storeState(this.#firstContents.get(file) ?? null),
        after: await storeState(this.#read(file)),
      })),
    );
    return { id: EDIT_ID, edits, folders: [] };
  }

  #listEditsSince(before: ReadonlyMap<string, FileVersion>, ownFile: string): string[] {
    const editedByFixes = this.#workspace.listEditedFiles();
    const isRead = (file: string) => file === ownFile || !(this.#specs.has(file) || specName.test(file));
    return [...this.#versions].flatMap(([file, now]) =>
      isRead(file) && !editedByFixes.has(file) && before.get(file)?.hash !== now?.hash ? [file] : [],
    );
  }

  #readAll(): void {
    const before = this.#versions;
    this.#versions = new Map(
      [...this.#firstContents.keys()].map((file) => [file, this.#readVersion(file, before.get(file))]),
    );
  }

  #readVersion(file: string, before: FileVersion | undefined): FileVersion {
    const info = lstatSync(path.join(this.#root, file), { throwIfNoEntry: false });
    if (!info?.isFile()) return null;
    const { mtimeMs, size } = info;
    if (before?.mtimeMs === mtimeMs && before.size === size) return before;
    return { mtimeMs, size, hash: hashContent(this.#read(file) ?? Buffer.alloc(0)) };
  }

  #read(file: string): Buffer | null {
    return tryOr(null, () => readFileSync(path.join(this.#root, file)));
  }
}

/**
 * Lists the specs, the config and the sources that belong to the tests, relative to the root. Omits files that git ignores, such as a browser session
 * that the tests save themselves.
 */
export async function listTestFiles(root: string, suitePaths: SuitePaths): Promise<string[]> {
  const { testFiles, config } = suitePaths;
  const others = (await createProjectSnapshot(root).listPaths()).filter(createTestPathPredicate(suitePaths));
  return [...new Set([...testFiles, ...(config === null ? [] : [config]), ...others])].slice(0, MAX_FILES);
}

/** True if somebody edited a test of a cause before it turned green. */
export function isEdited(
  { testFiles }: { readonly testFiles: Pick<TestFiles, 'listEditsToTest'> },
  { members }: Pick<Cause, 'members'>,
): boolean {
  return members.some(({ failure }) => testFiles.listEditsToTest(failure).length > 0);
}
