import sax from 'sax';
import type { ReadReport } from './json-report.js';
import { type ReportedTest, testKey } from './report.js';

/**
 * Reads a report of Playwright's JUnit reporter: a suite for each file and project, which is its `hostname`. It says neither which shard it is
 * nor which commit, and not what went wrong besides tests. Throws with what is wrong with it.
 */
export function readJUnitReport(text: string): ReadReport {
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
