import { unreachable } from '../unreachable.js';
import { agentName } from '../model/built-in.js';
import { type Proof, renderProof } from '../model/proof.js';
import { isHealed } from '../model/verdict.js';
import { type CauseView, rowsOf, suiteItself, viewOf } from './view.js';
import { html, type Markup, raw } from './html/markup.js';
import type { Report, ReportCause, ReportTest } from '../run/report.js';
import { groupBy } from '../group-by.js';

/**
 * Renders the run as JUnit XML. Suites and cases have the same names as in Playwright's own junit reporter (suite: file, host: project,
 * case: titles), so that other tools recognize the tests. Healed and flaky tests count as passed, and say so in their properties and output.
 * junit-report-builder is not used because it supports neither hosts nor reasons for skipped tests.
 */
export function junitOf(report: Report): string {
  const tests = testViews(report, viewOf(report).causes);
  const attributes = {
    id: report.runId,
    name: 'self-heal',
    ...counts(tests),
    time: seconds(report.totals.durationMs),
  };
  const suites = [...groups(tests).values()].map((group) => suite(report, group));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${String(element('testsuites', attributes, suites))}\n`;
}

/** A test, or the suite's own failure, in the three statuses that every test report has. */
interface TestView {
  /** Null for the suite's own failure. */
  readonly test: ReportTest | null;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** One line; null if there is nothing to add to the status. */
  readonly message: string | null;
  /** Further details over several lines; empty if there are none. */
  readonly details: string;
  /** The cause that the status is based on. */
  readonly cause: ReportCause | null;
}

/** The status of each verdict, and its message. */
const statuses: Record<ReportTest['verdict'], Pick<TestView, 'status' | 'message'>> = {
  passed: { status: 'passed', message: null },
  flaky: { status: 'passed', message: 'flaky: red, then green without a change' },
  healed: { status: 'passed', message: 'healed' },
  'green-once': { status: 'passed', message: 'green once, not proven,' },
  quarantined: { status: 'skipped', message: 'quarantined: still red, but not failing the run' },
  skipped: { status: 'skipped', message: null },
  'not-run': { status: 'skipped', message: 'not run: no Playwright run got to it' },
  failed: { status: 'failed', message: 'failed' },
  escalated: { status: 'failed', message: 'escalated' },
  rejected: { status: 'failed', message: 'rejected' },
  'agent-unusable': { status: 'failed', message: 'agent-unusable' },
};

/** Returns every test, and every failure of the suite itself that is healed or still open. */
function testViews({ tests }: Report, causes: readonly CauseView[]): TestView[] {
  const byId = new Map(causes.map((view) => [view.cause.id, view]));
  const ofSuite = causes.filter(({ cause }) => cause.tests.length === 0 && cause.verdict !== 'superseded');
  return [
    ...ofSuite.map((view) => testView(null, view)),
    ...tests.map((test) => testView(test, byId.get(test.causeId ?? '') ?? null)),
  ];
}

function testView(test: ReportTest | null, view: CauseView | null): TestView {
  const verdict = test?.verdict ?? view?.cause.verdict ?? 'failed';
  const { status, message } =
    verdict === 'superseded' || verdict === 'interrupted' ? statuses.failed : statuses[verdict];
  const cause = view?.cause ?? null;
  if (isHealed(verdict))
    return { test, status, message: healedBy(message ?? '', cause, test), details: '', cause };
  if (status !== 'failed' || !view) return { test, status, message, details: '', cause };
  const rows = rowsOf(view, { attempts: 1, findings: 0 }).filter(({ label }) => inDetails.has(label));
  const details = [
    `${view.cause.id} ${verdict} · ${view.cause.category}`,
    view.cause.headline,
    ...rows.map(({ label, text }) => `${label}: ${text}`),
    `evidence: ${view.cause.evidence}/`,
  ];
  return { test, status, message: view.cause.headline, details: details.join('\n'), cause };
}

const inDetails = new Set(['blame', 'why', 'end']);

/** `healed by debugger (claude) in 2 attempts, proof: red red | green green`. */
function healedBy(word: string, cause: ReportCause | null, test: ReportTest | null): string {
  if (cause === null) return word;
  const last = cause.attempts.at(-1);
  if (!last) return word === cause.verdict ? cause.reason : `${word} ${cause.reason}`;
  const runner = last.runner && last.runner !== last.agent ? ` (${last.runner})` : '';
  const who = last.agent ? `by ${agentName(last.agent)}${runner}` : 'without an agent';
  const tries = cause.attempts.length > 1 ? ` in ${cause.attempts.length} attempts` : '';
  const shared = test?.sharedFix ? `, with the fix of ${cause.id}` : '';
  const steps = proofFor(cause, test?.id ?? null);
  return `${word} ${who}${tries}${shared}${steps.length > 0 ? `, proof: ${renderProof(steps)}` : ''}`;
}

/** Returns the proof of one test: its own if its cause has several tests (HL-6), else the cause's. */
function proofFor({ proof, testProofs = [] }: ReportCause, testId: string | null): Proof {
  return testProofs.find(({ id }) => id === testId)?.proof ?? proof;
}

function groups(tests: readonly TestView[]): Map<string, TestView[]> {
  return groupBy(tests, ({ test }) => JSON.stringify([test?.project, test && fileOf(test)]));
}

function suite(report: Report, group: readonly TestView[]): Markup {
  const test = group[0]?.test ?? null;
  const durationMs = group.reduce((sum, view) => sum + (view.test?.durationMs ?? 0), 0);
  const attributes = {
    name: test ? fileOf(test) : suiteItself,
    timestamp: report.startedAt,
    hostname: test?.project ?? '',
    ...counts(group),
    time: seconds(durationMs),
  };
  return element('testsuite', attributes, group.map(testCase));
}

function counts(tests: readonly TestView[]) {
  const of = (status: TestView['status'], ofSuite: boolean) =>
    tests.filter((test) => test.status === status && (test.test === null) === ofSuite).length;
  return {
    tests: tests.length,
    failures: of('failed', false),
    skipped: of('skipped', false),
    errors: of('failed', true),
  };
}

function testCase(view: TestView): Markup {
  const { test } = view;
  const name = test ? test.title.slice(1).join(' › ') : suiteItself;
  const classname = test ? fileOf(test) : suiteItself;
  const attributes = { name, classname, time: seconds(test?.durationMs ?? 0) };
  return element('testcase', attributes, [...properties(test), ...resultElements(view)]);
}

function properties(test: ReportTest | null): Markup[] {
  if (test === null || test.verdict === 'passed' || test.verdict === 'skipped') return [];
  const values = {
    'self-heal.verdict': test.verdict,
    ...(test.causeId && { 'self-heal.cause': test.causeId }),
  };
  const all = Object.entries(values).map(([name, value]) => element('property', { name, value }));
  return [element('properties', {}, all)];
}

function resultElements({ test, status, message, details, cause }: TestView): Markup[] {
  switch (status) {
    case 'passed':
      return message === null ? [] : [element('system-out', {}, message)];
    case 'skipped':
      return [element('skipped', message === null ? {} : { message })];
    case 'failed': {
      const attributes = { message: message ?? '', type: cause?.category ?? 'FAILURE' };
      return [element(test === null ? 'error' : 'failure', attributes, details)];
    }
    default:
      return unreachable(status);
  }
}

function fileOf({ title, file }: ReportTest): string {
  return title[0] ?? file;
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/**
 * Characters that XML 1.0 forbids or discourages (https://www.w3.org/TR/xml/#charsets): control characters, lone surrogates, the two
 * noncharacters. They cannot be escaped, so they are removed.
 */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const unfit = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ud800-\udfff\ufffe\uffff]/gu;

/** Renders an element, well-formed whatever the texts contain. Names are not escaped, since they are ours. */
function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: string | readonly Markup[] = [],
): Markup {
  const tag = raw(name);
  const written = Object.entries(attributes).map(([key, value]) => html` ${raw(key)}="${inOneLine(value)}"`);
  const inside =
    typeof content === 'string' ? content.replaceAll(unfit, '') : content.map((child) => [child, '\n']);
  return html`<${tag}${written}>${inside}</${tag}>`;
}

/** Parsers read a line break in an attribute as a space, so it is written as one. */
function inOneLine(value: string | number): string {
  return String(value)
    .replaceAll(unfit, '')
    .replaceAll(/\r\n|[\r\n\t]/g, ' ');
}
