import { open, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import sax from 'sax';
import { z } from 'zod';
import { visibleText } from '../../visible-text.js';
import { type Problem, reasonOf } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { readBlobReport } from './blob-report.js';
import { readJsonReport, type ReadReport } from './json-report.js';
import { type PlaywrightReport, type ReportedTest, testKey } from './report.js';

/** How deep a report may be in an artifact, below the folders of the download and of the package. */
const deepest = 8;
/** Larger than any report without its attachments. Files are held in memory. */
const mostBytes = 256 * 1024 * 1024;

/**
 * Reads Playwright's reports of other runs: blob reports, JSON and JUnit. Each place may be one of them, or a folder that contains any number at
 * any depth, as downloaded artifacts do; files of other kinds are ignored. A place that contains none is a `Problem`, and so is a damaged file.
 * Nothing in a report is followed as a path.
 */
export async function readReports(
  places: readonly string[],
  cwd: string,
): Promise<Result<PlaywrightReport[], Problem>> {
  // A file may be named twice: by itself and through its folder.
  const reports = new Map<string, PlaywrightReport>();
  for (const place of places) {
    const start = path.resolve(cwd, place);
    const files = await filesIn(start, 0);
    let found = 0;
    for (const file of files ?? []) {
      const name = visibleText(path.relative(cwd, file));
      try {
        const report = await readReport(file);
        if (!report) continue;
        found += 1;
        reports.set(file, { name, ...report });
      } catch (error) {
        return err(damaged(name, error));
      }
    }
    if (found === 0) return err(nothingIn(place, files !== null));
  }
  return ok([...reports.values()]);
}

/** Returns the files below a folder, or the file itself; null if there is neither. Links are not followed. */
async function filesIn(place: string, depth: number): Promise<string[] | null> {
  if (depth === 0) {
    const found = await stat(place).catch(() => null);
    if (!found?.isDirectory()) return found && [place];
  }
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))) {
    const inner = path.join(place, entry.name);
    if (entry.isFile()) found.push(inner);
    else if (entry.isDirectory() && !ignored.has(entry.name) && depth < deepest)
      found.push(...((await filesIn(inner, depth + 1)) ?? []));
  }
  return found;
}

/** `.self-heal` contains self-heal's own reports. */
const ignored: ReadonlySet<string> = new Set(['node_modules', '.self-heal']);

async function readReport(file: string): Promise<ReadReport | null> {
  switch (path.extname(file)) {
    case '.zip':
      return readBlobReport(file);
    case '.json':
      return (await begins(file, /^\s*\{\s*"config"\s*:/)) ? readJsonReport(await textOf(file)) : null;
    case '.xml':
      return (await begins(file, /<testsuites?[\s>]/)) ? readJUnitReport(await textOf(file)) : null;
    default:
      return null;
  }
}

const beginningBytes = 1024;

async function begins(file: string, pattern: RegExp): Promise<boolean> {
  const opened = await open(file);
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(beginningBytes));
    return pattern.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await opened.close();
  }
}

async function textOf(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > mostBytes) throw new Error(`it is too large (${size} bytes)`);
  return readFile(file, 'utf8');
}

/** Quotes nothing of the file's text. */
function damaged(name: string, error: unknown): Problem {
  const [issue] = error instanceof z.ZodError ? error.issues : [];
  const why = issue
    ? `${issue.path.join('.') || 'it'}: ${issue.message}`
    : error instanceof SyntaxError
      ? 'it is not JSON'
      : reasonOf(error);
  return {
    kind: 'input-unreadable',
    message: `${name} is not a usable report of Playwright: ${visibleText(why)}`,
    remedy: 'Download it again, or remove it and heal the other shards with --allow-missing-shards.',
  };
}

function nothingIn(place: string, isThere: boolean): Problem {
  return {
    kind: 'input-unreadable',
    message: isThere ? `${place} contains no report of Playwright` : `${place} does not exist`,
    remedy:
      'Have each shard run `playwright test --shard=1/3 --reporter=blob` and keep its blob-report folder; the reporters json and junit will do as well.',
  };
}

/**
 * Reads a report of Playwright's JUnit reporter: a suite for each file and project, which is its `hostname`. It says neither which shard it is
 * nor which commit, and not what went wrong besides tests. Throws with what is wrong with it.
 */
function readJUnitReport(text: string): ReadReport {
  const tests: ReportedTest[] = [];
  let [file, project] = ['', ''];
  let open: (ReportedTest & { isMarked?: boolean }) | null = null;
  // Strict: entities of the document's own are not resolved.
  const parser = sax.createStream(true);
  parser.on('error', () => {
    throw new Error('it is not XML');
  });
  parser.on('opentag', ({ name, attributes }) => {
    const { name: title = '', hostname = '', time = '' } = attributes as Record<string, string | undefined>;
    if (name === 'testsuite') [file, project] = [title, hostname];
    if (name === 'testcase') {
      const withoutProject = title.startsWith(`[${project}] `) ? title.slice(project.length + 3) : title;
      const durationMs = Number(time) * 1000 || 0;
      open = { key: testKey(project, [file, withoutProject]), outcome: 'expected', durationMs };
    }
    if (!open) return;
    if (name === 'failure' || name === 'error') open = { ...open, outcome: 'unexpected' };
    // Playwright also says `skipped` of tests that were to run and did not; only those that were not have an annotation.
    if (name === 'property' && /^(?:skip|fixme)$/.test(title)) open = { ...open, isMarked: true };
    if (name === 'skipped') open = { ...open, outcome: open.isMarked ? 'skipped' : 'not-run' };
  });
  parser.on('closetag', (name) => {
    if (name !== 'testcase' || !open) return;
    tests.push(open);
    open = null;
  });
  parser.write(text);
  parser.end();
  return { shard: null, commit: null, isSuiteRed: false, tests };
}
