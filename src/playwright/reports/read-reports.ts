import { open, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { visibleText } from '../../visible-text.js';
import { type Problem, describeError } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { readBlobReport } from './blob-report.js';
import { readJsonReport, type ReadReport } from './json-report.js';
import type { PlaywrightReport } from './report.js';

/** How deep in an artifact to search for reports. */
const MAX_DEPTH = 8;
/** Larger than any report without its attachments; files are read into memory. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Reads Playwright's reports of other runs: blob reports and JSON. Each path may be a report, or a folder with any number of them at any
 * depth, as in downloaded artifacts; other files are ignored. A path without a report is a `Problem`, and so is a damaged report. Nothing in a report
 * is used as a path.
 */
export async function readReports(
  paths: readonly string[],
  cwd: string,
): Promise<Result<PlaywrightReport[], Problem>> {
  // A file may be named twice: by itself and through its folder.
  const reports = new Map<string, PlaywrightReport>();
  for (const reportPath of paths) {
    const files = await listFiles(path.resolve(cwd, reportPath), 0);
    let count = 0;
    for (const file of files ?? []) {
      const name = visibleText(path.relative(cwd, file));
      try {
        const report = await readReport(file);
        if (!report) continue;
        count += 1;
        reports.set(file, { name, ...report });
      } catch (error) {
        return err(createDamagedProblem(name, error));
      }
    }
    if (count === 0) return err(createNoReportsProblem(reportPath, files !== null));
  }
  return ok([...reports.values()]);
}

/** Returns the files below a folder, or the file itself; null if there is neither. Links are not followed. */
async function listFiles(folder: string, depth: number): Promise<string[] | null> {
  if (depth === 0) {
    const info = await stat(folder).catch(() => null);
    if (!info?.isDirectory()) return info && [folder];
  }
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))) {
    const entryPath = path.join(folder, entry.name);
    if (entry.isFile()) files.push(entryPath);
    else if (entry.isDirectory() && !ignoredFolders.has(entry.name) && depth < MAX_DEPTH)
      files.push(...((await listFiles(entryPath, depth + 1)) ?? []));
  }
  return files;
}

/** `.self-heal` contains self-heal's own reports. */
const ignoredFolders: ReadonlySet<string> = new Set(['node_modules', '.self-heal']);

async function readReport(file: string): Promise<ReadReport | null> {
  switch (path.extname(file)) {
    case '.zip':
      return readBlobReport(file);
    case '.json':
      return (await beginsWith(file, /^\s*\{\s*"config"\s*:/)) ? readJsonReport(await readText(file)) : null;
    default:
      return null;
  }
}

const beginningBytes = 1024;

async function beginsWith(file: string, pattern: RegExp): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginningBytes));
    return pattern.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

async function readText(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_BYTES) throw new Error(`it is too large (${size} bytes)`);
  return readFile(file, 'utf8');
}

/** Creates a message without text of the file, which is untrusted. */
function createDamagedProblem(name: string, error: unknown): Problem {
  const [issue] = error instanceof z.ZodError ? error.issues : [];
  const reason = issue
    ? `${issue.path.join('.') || 'it'}: ${issue.message}`
    : error instanceof SyntaxError
      ? 'it is not JSON'
      : describeError(error);
  return {
    kind: 'input-unreadable',
    message: `${name} is not a usable Playwright report: ${visibleText(reason)}`,
    remedy: 'Download it again, or remove it and heal the other shards with --allow-missing-shards.',
  };
}

function createNoReportsProblem(named: string, exists: boolean): Problem {
  return {
    kind: 'input-unreadable',
    message: exists ? `${named} contains no Playwright report` : `${named} does not exist`,
    remedy:
      'Have each shard run `playwright test --shard=1/3 --reporter=blob` and keep its blob-report folder; the json reporter works, too.',
  };
}
