import { unreachable } from '../unreachable.js';
import { formatAgentName } from '../model/built-in.js';
import { type Proof, formatProof } from '../model/proof.js';
import { isHealed } from '../model/verdict.js';
import { type CauseView, listRows, suiteItself, createView } from './view.js';
import type { Report, ReportCause, ReportTest } from '../run/report.js';
import { groupBy } from '../group-by.js';

/**
 * Renders the run as JUnit XML. Suites and cases have the same names as in Playwright's own junit reporter (suite: file, host: project,
 * case: titles), so that other tools recognize the tests. Healed and flaky tests count as passed, and say so in their properties and output.
 * junit-report-builder is not used because it supports neither hosts nor reasons for skipped tests.
 */
export function renderJunit(report: Report): string {
  const tests = listTestViews(report, createView(report).causes);
  const attributes = {
    id: report.runId,
    name: 'self-heal',
    ...countByStatus(tests),
    time: toSeconds(report.totals.durationMs),
  };
  const suites = [...groupBySuite(tests).values()].map((group) => renderSuite(report, group));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${renderElement('testsuites', attributes, suites)}\n`;
}

/** A test, or the suite's own failure, with one of JUnit's three statuses. */
interface TestView {
  /** Null for a failure of the suite itself. */
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
  quarantined: { status: 'skipped', message: 'quarantined: still red, but does not fail the run' },
  skipped: { status: 'skipped', message: null },
  'not-run': { status: 'skipped', message: 'not run: every Playwright run ended before it' },
  failed: { status: 'failed', message: 'failed' },
  escalated: { status: 'failed', message: 'escalated' },
  rejected: { status: 'failed', message: 'rejected' },
  'agent-unusable': { status: 'failed', message: 'agent-unusable' },
};

/** Returns every test, and every healed or open failure of the suite itself. */
function listTestViews({ tests }: Report, causes: readonly CauseView[]): TestView[] {
  const byId = new Map(causes.map((view) => [view.cause.id, view]));
  const suiteFailures = causes.filter(
    ({ cause }) => cause.tests.length === 0 && cause.verdict !== 'superseded',
  );
  return [
    ...suiteFailures.map((view) => createTestView(null, view)),
    ...tests.map((test) => createTestView(test, byId.get(test.causeId ?? '') ?? null)),
  ];
}

function createTestView(test: ReportTest | null, view: CauseView | null): TestView {
  const verdict = test?.verdict ?? view?.cause.verdict ?? 'failed';
  const { status, message } =
    verdict === 'superseded' || verdict === 'interrupted' ? statuses.failed : statuses[verdict];
  const cause = view?.cause ?? null;
  if (isHealed(verdict))
    return { test, status, message: describeHealing(message ?? '', cause, test), details: '', cause };
  if (status !== 'failed' || !view) return { test, status, message, details: '', cause };
  const rows = listRows(view, { attempts: 1, findings: 0 }).filter(({ label }) => detailRows.has(label));
  const details = [
    `${view.cause.id} ${verdict} · ${view.cause.category}`,
    view.cause.headline,
    ...rows.map(({ label, text }) => `${label}: ${text}`),
    `evidence: ${view.cause.evidence}/`,
  ];
  return { test, status, message: view.cause.headline, details: details.join('\n'), cause };
}

const detailRows = new Set(['blame', 'why', 'end']);

/** `healed by debugger (claude) in 2 attempts, proof: red red | green green`. */
function describeHealing(word: string, cause: ReportCause | null, test: ReportTest | null): string {
  if (cause === null) return word;
  const last = cause.attempts.at(-1);
  if (!last) return word === cause.verdict ? cause.reason : `${word} ${cause.reason}`;
  const runner = last.runner && last.runner !== last.agent ? ` (${last.runner})` : '';
  const who = last.agent ? `by ${formatAgentName(last.agent)}${runner}` : 'without an agent';
  const tries = cause.attempts.length > 1 ? ` in ${cause.attempts.length} attempts` : '';
  const shared = test?.sharedFix ? `, with the fix for ${cause.id}` : '';
  const steps = findProof(cause, test?.id ?? null);
  return `${word} ${who}${tries}${shared}${steps.length > 0 ? `, proof: ${formatProof(steps)}` : ''}`;
}

/** Returns the proof of one test: its own if its cause has several tests (HL-6), else the cause's. */
function findProof({ proof, testProofs = [] }: ReportCause, testId: string | null): Proof {
  return testProofs.find(({ id }) => id === testId)?.proof ?? proof;
}

function groupBySuite(tests: readonly TestView[]): Map<string, TestView[]> {
  return groupBy(tests, ({ test }) => JSON.stringify([test?.project, test && getSuiteName(test)]));
}

function renderSuite(report: Report, group: readonly TestView[]): string {
  const test = group[0]?.test ?? null;
  const durationMs = group.reduce((sum, view) => sum + (view.test?.durationMs ?? 0), 0);
  const attributes = {
    name: test ? getSuiteName(test) : suiteItself,
    timestamp: report.startedAt,
    hostname: test?.project ?? '',
    ...countByStatus(group),
    time: toSeconds(durationMs),
  };
  return renderElement('testsuite', attributes, group.map(renderTestCase));
}

function countByStatus(tests: readonly TestView[]) {
  const count = (status: TestView['status'], isSuite: boolean) =>
    tests.filter((test) => test.status === status && (test.test === null) === isSuite).length;
  return {
    tests: tests.length,
    failures: count('failed', false),
    skipped: count('skipped', false),
    errors: count('failed', true),
  };
}

function renderTestCase(view: TestView): string {
  const { test } = view;
  const name = test ? test.title.slice(1).join(' › ') : suiteItself;
  const classname = test ? getSuiteName(test) : suiteItself;
  const attributes = { name, classname, time: toSeconds(test?.durationMs ?? 0) };
  return renderElement('testcase', attributes, [...renderProperties(test), ...renderResult(view)]);
}

function renderProperties(test: ReportTest | null): string[] {
  if (test === null || test.verdict === 'passed' || test.verdict === 'skipped') return [];
  const values = {
    'self-heal.verdict': test.verdict,
    ...(test.causeId && { 'self-heal.cause': test.causeId }),
  };
  const properties = Object.entries(values).map(([name, value]) =>
    renderElement('property', { name, value }),
  );
  return [renderElement('properties', {}, properties)];
}

function renderResult({ test, status, message, details, cause }: TestView): string[] {
  switch (status) {
    case 'passed':
      return message === null ? [] : [renderElement('system-out', {}, message)];
    case 'skipped':
      return [renderElement('skipped', message === null ? {} : { message })];
    case 'failed': {
      const attributes = { message: message ?? '', type: cause?.category ?? 'FAILURE' };
      return [renderElement(test === null ? 'error' : 'failure', attributes, details)];
    }
    default:
      return unreachable(status);
  }
}

function getSuiteName({ title, file }: ReportTest): string {
  return title[0] ?? file;
}

function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/**
 * Characters that XML 1.0 forbids or discourages (https://www.w3.org/TR/xml/#charsets): control characters, lone surrogates, and two
 * noncharacters. XML cannot escape them, so they are removed.
 */
const invalidInXml =
  // oxlint-disable-next-line no-control-regex -- matches them on purpose
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ud800-\udfff\ufffe\uffff]/gu;

/** Renders a well-formed element around a text, or around rendered elements. Names are constants, so they need no escaping. */
function renderElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: string | readonly string[] = [],
): string {
  const attributeList = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escapeXml(replaceLineBreaks(String(value)))}"`,
  );
  const innerXml =
    typeof content === 'string' ? escapeXml(content) : content.map((child) => `${child}\n`).join('');
  return `<${name}${attributeList.join('')}>${innerXml}</${name}>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeXml(text: string): string {
  return text.replaceAll(invalidInXml, '').replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
}

/** Replaces line breaks in an attribute by spaces, as XML parsers do. */
function replaceLineBreaks(value: string): string {
  return value.replaceAll(/\r\n|[\r\n\t]/g, ' ');
}
