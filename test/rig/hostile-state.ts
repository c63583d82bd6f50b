import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { aReport, aReportAttempt, aReportCause, aReportTest } from './a-report.js';
import { writeStoredRun } from './events-of-report.js';
import { writeInto } from './agent-workspace.js';
import { gitIn } from './git-repository.js';
import path from 'node:path';

/** The id of the run in a hostile project. */
export const hostileRunId = '20261121-071500-4f3a';

/** Overrides parts of the planted run and its change. */
interface HostileChange {
  /** The root folder, which only older versions recorded. */
  readonly root?: string | undefined;
  readonly kind?: 'file' | 'link';
  readonly content?: string;
  /** Folders that the change claims to have created. */
  readonly folders?: readonly string[];
  /** The id of the run. */
  readonly id?: string;
}

/** Puts into a project a run whose undo creates a file. */
export function plantHostileRun(
  project: string,
  file: string,
  { root, kind = 'file', content = 'planted\n', folders = [], id = hostileRunId }: HostileChange = {},
): void {
  const hash = createHash('sha256').update(content).digest('hex');
  const state = { kind, hash, mode: 0o644 };
  const tests = [aReportTest({ verdict: 'healed' })];
  const causes = [aReportCause({ attempts: [aReportAttempt({ change: '1', patch: null })] })];
  writeStoredRun(project, aReport({ runId: id, tests, causes }));
  writeInto(path.join(project, '.self-heal/changes', id), {
    '1.json': JSON.stringify({
      schemaVersion: 1,
      id: '1',
      ...(root === undefined ? {} : { root }),
      edits: [{ path: file, before: state, after: null }],
      folders,
    }),
    [`contents/${hash}`]: content,
  });
}

/** Commits files of a folder, by default all of them, ignored ones too. */
export function commitAll(dir: string, paths: readonly string[] = ['.']): void {
  const git = gitIn(dir);
  git('init', '--quiet');
  git('add', '--all', '--force', '--', ...paths);
  git('commit', '--quiet', '-m', 'all');
}

/** Writes an SQLite journal that makes SQLite delete another file when it next opens the database. */
export function plantDeletingJournal(database: string, victim: string): void {
  const bytes = readFileSync(database);
  const size = bytes.readUInt16BE(16);
  const page = bytes.subarray(0, size);
  const numbers = (...all: number[]) => {
    const buffer = Buffer.alloc(4 * all.length);
    for (const [at, one] of all.entries()) buffer.writeUInt32BE(one % 2 ** 32, 4 * at);
    return buffer;
  };
  const magic = Buffer.from('d9d505f920a163d7', 'hex');
  const header = Buffer.concat([magic, numbers(1, 0, bytes.length / size, 512, size), Buffer.alloc(512)]);
  let sum = 0;
  for (let at = size - 200; at > 0; at -= 200) sum += page[at] ?? 0;
  const name = Buffer.from(victim);
  const ofName = numbers(
    name.length,
    name.reduce((total, byte) => total + byte, 0),
  );
  writeFileSync(
    `${database}-journal`,
    Buffer.concat([
      header.subarray(0, 512),
      numbers(1),
      page,
      numbers(sum),
      numbers(2 ** 30 / size + 1),
      name,
      ofName,
      magic,
    ]),
  );
}
