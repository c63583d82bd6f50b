import { unreachable } from '../unreachable.js';
import { suiteItself, type TestView, viewOf } from './view.js';
import { html, type Markup, raw } from './html/markup.js';
import type { Report, ReportTest } from '../run/report.js';

/**
 * Renders the run as JUnit XML. Suites and cases have the same names as in Playwright's own junit reporter (suite: file, host: project,
 * case: titles), so that other tools recognize the tests. Healed and flaky tests count as passed, and say so in their properties and output.
 * junit-report-builder is not used because it supports neither hosts nor reasons for skipped tests.
 */
export function junitOf(report: Report): string {
  const { tests } = viewOf(report);
  const attributes = {
    id: report.runId,
    name: 'self-heal',
    ...counts(tests),
    time: seconds(report.totals.durationMs),
  };
  const suites = [...groups(tests).values()].map((group) => suite(report, group));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${String(element('testsuites', attributes, suites))}\n`;
}

function groups(tests: readonly TestView[]): Map<string, TestView[]> {
  const bySuite = new Map<string, TestView[]>();
  for (const test of tests) {
    const key = JSON.stringify([test.test?.project, test.test && fileOf(test.test)]);
    const group = bySuite.get(key);
    if (group) group.push(test);
    else bySuite.set(key, [test]);
  }
  return bySuite;
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
