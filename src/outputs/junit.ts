import { unreachable } from '../core/unreachable.js';
import { type FinalStatus, suiteItself, tellTests, type Told } from './final-status.js';
import type { Report, ReportTest } from '../run/report.js';

/**
 * Renders the run as JUnit XML. Suites and cases have the same names as in Playwright's own junit reporter (suite: file, host: project,
 * case: titles), so that other tools recognize the tests. Healed and flaky tests count as passed, and say so in their properties and output.
 * junit-report-builder is not used because it supports neither hosts nor reasons for skipped tests.
 */
export function junitOf(report: Report): string {
  const told = tellTests(report);
  const suites = [...groups(told).values()].map((group) => suite(report, group));
  return renderXml({
    name: 'testsuites',
    attributes: {
      id: report.runId,
      name: 'self-heal',
      ...counts(told),
      time: seconds(report.totals.durationMs),
    },
    children: suites,
  });
}

function groups(told: readonly Told[]): Map<string, Told[]> {
  const bySuite = new Map<string, Told[]>();
  for (const one of told) {
    const key = JSON.stringify([one.test?.project, one.test && fileOf(one.test)]);
    const group = bySuite.get(key);
    if (group) group.push(one);
    else bySuite.set(key, [one]);
  }
  return bySuite;
}

function suite(report: Report, group: readonly Told[]): XmlElement {
  const test = group[0]?.test ?? null;
  const durationMs = group.reduce((sum, one) => sum + (one.test?.durationMs ?? 0), 0);
  return {
    name: 'testsuite',
    attributes: {
      name: test ? fileOf(test) : suiteItself,
      timestamp: report.startedAt,
      hostname: test?.project ?? '',
      ...counts(group),
      time: seconds(durationMs),
    },
    children: group.map(testCase),
  };
}

function counts(told: readonly Told[]) {
  const of = (status: FinalStatus['status'], ofSuite: boolean) =>
    told.filter(({ test, word }) => word.status === status && (test === null) === ofSuite).length;
  return {
    tests: told.length,
    failures: of('failed', false),
    skipped: of('skipped', false),
    errors: of('failed', true),
  };
}

function testCase({ test, word }: Told): XmlElement {
  const name = test ? test.title.slice(1).join(' › ') : suiteItself;
  return {
    name: 'testcase',
    attributes: {
      name,
      classname: test ? fileOf(test) : suiteItself,
      time: seconds(test?.durationMs ?? 0),
    },
    children: [...properties(test), ...resultElements(word, test === null)],
  };
}

function properties(test: ReportTest | null): XmlElement[] {
  if (test === null || test.verdict === 'passed' || test.verdict === 'not-run') return [];
  const told = {
    'self-heal.verdict': test.verdict,
    ...(test.causeId && { 'self-heal.cause': test.causeId }),
  };
  const children = Object.entries(told).map(([name, value]) => ({
    name: 'property',
    attributes: { name, value },
  }));
  return [{ name: 'properties', children }];
}

function resultElements({ status, message, details, cause }: FinalStatus, ofSuite: boolean): XmlElement[] {
  switch (status) {
    case 'passed':
      return message === null ? [] : [{ name: 'system-out', text: message }];
    case 'skipped':
      return [{ name: 'skipped', ...(message === null ? {} : { attributes: { message } }) }];
    case 'failed': {
      const attributes = { message: message ?? '', type: cause?.category ?? 'FAILURE' };
      return [{ name: ofSuite ? 'error' : 'failure', attributes, text: details }];
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

/** An XML element; `text` goes into a CDATA section, before the children. */
interface XmlElement {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly text?: string;
  readonly children?: readonly XmlElement[];
}

/**
 * Characters that XML 1.0 forbids or discourages (https://www.w3.org/TR/xml/#charsets): control characters, lone surrogates, the two
 * noncharacters. They cannot be escaped, so they are removed.
 */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const unfit = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ud800-\udfff\ufffe\uffff]/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Renders a complete document, well-formed whatever the texts contain. Names are not escaped, since they are ours. */
function renderXml(root: XmlElement): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  append(lines, root, '');
  return `${lines.join('\n')}\n`;
}

function append(lines: string[], { name, attributes = {}, text, children = [] }: XmlElement, indent: string) {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${attribute(String(value))}"`);
  const open = `${indent}<${name}${written.join('')}`;
  if (text === undefined && children.length === 0) {
    lines.push(`${open}/>`);
    return;
  }
  const content = text === undefined ? '' : characterData(text);
  if (children.length === 0) {
    lines.push(`${open}>${content}</${name}>`);
    return;
  }
  lines.push(`${open}>${content}`);
  for (const child of children) append(lines, child, `${indent}  `);
  lines.push(`${indent}</${name}>`);
}

/** Escapes an attribute's value. Parsers read a line break in it as a space, so it is written as one. */
function attribute(text: string): string {
  const line = text.replaceAll(unfit, '').replaceAll(/\r\n|[\r\n\t]/g, ' ');
  return line.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

function characterData(text: string): string {
  return `<![CDATA[${text.replaceAll(unfit, '').replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}
