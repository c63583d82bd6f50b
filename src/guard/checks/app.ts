import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import type { Violation } from '../../core/guard/violation.js';
import type { Change } from '../change.js';
import { isCode } from '../code/imports.js';
import {
  constantOf,
  nameOf,
  nodeIn,
  nodesIn,
  parseSource,
  type Place,
  placeOf,
  type SourceFile,
  visit,
} from '../code/syntax.js';
import type { FileEdit } from '../edit.js';
import { type Rule, violationOf } from '../rules.js';
import { isCatchAll, isSilent, lostFailures } from './failures.js';

/** What is known of the tests, that an app has no business to know. */
interface TestFacts {
  readonly titles: readonly string[];
  /** Ports that only the tests' server has. */
  readonly ports: readonly string[];
  /** Headers and user agents that only the tests send. */
  readonly sent: readonly string[];
}

/** A sign that the app special-cases the tests, or pretends. */
interface Sign extends Place {
  readonly rule: Rule;
  readonly text: string;
}

/** Finds what a fix adds to the app that is no fix: it asks whether it is tested, or a pretence takes its place (HN-3). */
export function judgeApp({ request, suite, old, ofApp, ofTests }: Change): Violation[] {
  const config = (suite.config !== null && old.parsed.get(suite.config)?.text) || '';
  const ports = config.matchAll(/(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})|\bport:\s*(\d{2,5})/g);
  const facts = {
    titles: suite.titles,
    ports: [...ports].map((match) => match[1] ?? match[2] ?? ''),
    sent: [...old.parsed.values()].flatMap(sentBy),
  };
  // Where the tests do not compile, a compiler that is told to look away is no fix either.
  const compiled = request.category === 'build-error' ? ofTests : [];
  return [
    ...ofApp.flatMap((edit) => added(edit, (text) => signsIn(edit.path, text, facts))),
    ...compiled.flatMap((edit) => added(edit, (text) => signsOfText(edit.path, text, silencing))),
    ...ofApp
      .filter(({ path }) => isCode(path))
      .flatMap(({ path, before, after }) => {
        const [was, is] = [before, after].map((one) => one?.text && parseSource(path, one.text));
        return was && is ? lostFailures(was, is) : [];
      }),
  ];
}

/** What a file of the tests has every request say of itself: `extraHTTPHeaders`, `userAgent`. */
function sentBy({ text, program }: SourceFile): string[] {
  const sent: string[] = [];
  const names = /^(?:extraHTTPHeaders|userAgent)$/;
  if (!/extraHTTPHeaders|userAgent/.test(text)) return sent;
  visit(program, (node) => {
    const value = names.test(nameOf(nodeIn(node, 'key')) ?? '') ? nodeIn(node, 'value') : null;
    for (const one of value ? [value, ...nodesIn(value, 'properties')] : [])
      sent.push(
        ...['key', 'value'].flatMap((field) => nameOf(nodeIn(one, field)) ?? []),
        nameOf(value) ?? '',
      );
  });
  return sent.filter(
    (one) => one !== '' && !/^(?:accept|authorization|content-type|cookie|origin)\b/i.test(one),
  );
}

function added({ path: file, before, after }: FileEdit, signs: (text: string) => Sign[]): Violation[] {
  const olds = signs(before?.text ?? '').map(({ rule, text }) => `${rule} ${text}`);
  return signs(after?.text ?? '').flatMap(({ rule, text, line, source }) => {
    const known = olds.indexOf(`${rule} ${text}`);
    if (known !== -1) {
      olds.splice(known, 1);
      return [];
    }
    return [violationOf(rule, { file, line, after: source, detail: text })];
  });
}

const script = /(<script\b[^>]*>)([\s\S]*?)<\/script>/g;
const otherText =
  /\.(?:vue|svelte|astro|html?|mdx|py|rb|php|go|java|kt|cs|rs|ex|exs|erb|ejs|hbs|twig|jinja|conf|json|ya?ml|css|s[ac]ss|less|sh|patch|diff)$/;

function signsIn(file: string, text: string, facts: TestFacts): Sign[] {
  if (file.endsWith('.sql')) return signsOfText(file, text, openDoors);
  if (isCode(file)) {
    const source = parseSource(file, text);
    // A file that is broken is for the compiler to judge; what it says counts all the same.
    const signs = source ? signsOf(source, facts) : signsOfText(file, text, inAnyLanguage);
    return [...signs, ...signsOfText(file, text, silencing)];
  }
  if (!otherText.test(file)) return [];
  const blanked = (part: string) => part.replaceAll(/[^\n]/g, ' ');
  const scripts = [...text.matchAll(script)].flatMap(({ index, 1: tag = '', 2: code = '' }) => {
    const source = parseSource(`${file}.ts`, blanked(text.slice(0, index + tag.length)) + code);
    return source ? signsOf({ ...source, program: source.program, path: file }, facts) : [];
  });
  return [
    ...scripts,
    ...signsOfText(file, text.replaceAll(script, blanked), inAnyLanguage),
    ...signsOfText(file, text, silencing),
  ];
}

const detects: Rule = 'app-detects-tests';
/** What no honest app says, in any language. */
const inAnyLanguage: readonly (readonly [Rule, RegExp])[] = [
  [detects, /HeadlessChrome|\bnavigator\.webdriver|\bPLAYWRIGHT(?:_[A-Z_]+)?\b|__playwright|__pw_/],
  ['protected-file', /node_modules\/@?playwright\S*/],
  ['hidden-by-style', /\b(?:display:\s*none|visibility:\s*hidden)\s*!important/],
];
/** Settings of build tools that let errors pass, and comments that silence them. */
const silencing: readonly (readonly [Rule, RegExp])[] = [
  [
    'compiler-loosened',
    /\b(?:ignoreBuildErrors|ignoreDuringBuilds|transpileOnly|skipTypeCheck|allowBuildErrors)\b['"]?\s*:\s*true\b|\boverlay['"]?\s*:\s*false\b/,
  ],
  ['compiler-loosened', /@ts-(?:nocheck|ignore|expect-error)\b/],
];
/** Row-level security that lets everybody write. */
const openDoors: readonly (readonly [Rule, RegExp])[] = [
  ['security-loosened', /disable\s+row\s+level\s+security/i],
  [
    'security-loosened',
    /create\s+policy(?![^;]*\bfor\s+select\b)[^;]*(?:using|with\s+check)\s*\(\s*true\s*\)/i,
  ],
  ['security-loosened', /grant\s+all\b[^;]*\bto\s+(?:anon|public)\b/i],
];

function signsOfText(file: string, text: string, patterns: typeof openDoors): Sign[] {
  return patterns.flatMap(([rule, pattern]) =>
    [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((match) => {
      const line = text.slice(0, match.index).split('\n').length;
      const source = (text.split('\n')[line - 1] ?? '').trim().slice(0, 200);
      return { rule, text: match[0].replaceAll(/\s+/g, ' ').slice(0, 80), file, line, source };
    }),
  );
}

const pretence = /^'(?:.*[/._-])?(?:mocks?|fakes?|stubs?|msw|nock|miragejs|fetch-mock|sinon)(?:[/._-].*)?'$/i;
const swallows = String.raw`[^]*(?:preventDefault|stopImmediatePropagation|return true\b|=>\s*true\b|(?:=>|\))\s*\{\s*\})`;
const text = /^(?:Literal|Template\w+|BinaryExpression)$/;
const branch = /^(?:If|Conditional|Logical)/;

/** A kind of node of the app's code that gives it away by its text, or by that of the first of these fields; tools are configs of builds. */
interface Telling {
  readonly rule: Rule;
  readonly node: RegExp;
  readonly fields?: readonly string[];
  readonly says: RegExp;
  readonly where?: 'app' | 'tool';
}

const telling: readonly Telling[] = [
  // Names in an environment that only a test run sets, and what Playwright's browser says of itself.
  {
    rule: detects,
    node: /^(?:Identifier|Literal|BinaryExpression)$/,
    says: /^'?(?:(?:\w+_)?(?:PLAYWRIGHT|E2E)(?:_\w+)?|PW_\w+|PWTEST\w*|TEST_(?:WORKER|PARALLEL)_INDEX|VITEST\w*|JEST_WORKER_ID|SELF_HEAL\w*|webdriver|__(?:playwright|pw)\w*)'?$/,
  },
  {
    rule: detects,
    node: text,
    says: /HeadlessChrome|^\/.*headless.*\/\w*$|\bplaywright\b.*\buser-?agent\b|^'?(?:Playwright\/|x[-_]playwright)|playwright[-_](?:test|run)/i,
  },
  { rule: detects, node: branch, fields: ['test', 'left'], says: /\benv\b[^]*\b(?:TEST|CI)\b/, where: 'app' },
  {
    rule: detects,
    node: /^BinaryExpression$/,
    says: /^(?=[^]*\b(?:env|NODE_ENV|MODE)\b)[^]*['"](?:test|testing|e2e)['"]/,
    where: 'app',
  },
  {
    rule: detects,
    node: /^Literal$/,
    says: /^'(?:[^'/]*[^a-z\d'/])?(?:e2e|playwright)(?:[^a-z\d'/][^'/]*)?'$/i,
    where: 'app',
  },
  { rule: 'protected-file', node: text, says: /node_modules\/@?playwright/ },
  // A compiler or a linter that is told to look away.
  { rule: 'compiler-loosened', node: /^TSAsExpression$/, says: /\bas\s+any$/ },
  {
    rule: 'compiler-loosened',
    node: /^Property$/,
    fields: ['value'],
    says: /^'off'$|^\[\s*['"]off['"]/,
    where: 'tool',
  },
  // A stub between app and server: a mocking package, a replaced `fetch`, a service worker that makes up answers, an alias.
  { rule: 'app-stubbed', node: /^(?:Import|Export)/, fields: ['source'], says: pretence },
  {
    rule: 'app-stubbed',
    node: /^Property$/,
    fields: ['value'],
    says: new RegExp(`(?=^'[./@~])${pretence.source}`, 'i'),
    where: 'tool',
  },
  {
    rule: 'app-stubbed',
    node: /^CallExpression$/,
    says: new RegExp(
      String.raw`\.respondWith\(\s*new\s|^require\((?:["']).*(?:mock|fake|stub|msw|nock|sinon)`,
    ),
  },
  {
    rule: 'app-stubbed',
    node: /^AssignmentExpression$/,
    fields: ['left'],
    says: /^(?:window|globalThis|global|self)(?:\.|\[['"])(?:fetch|XMLHttpRequest|WebSocket|EventSource)\b/,
  },
  // A listener for errors that keeps them from whoever else listens.
  {
    rule: 'errors-silenced',
    node: /^AssignmentExpression$/,
    says: new RegExp(String.raw`^(?:\w+\.)*on(?:error|unhandledrejection)\s*=${swallows}`),
  },
  {
    rule: 'errors-silenced',
    node: /^CallExpression$/,
    says: new RegExp(
      String.raw`^(?:\w+\.)*(?:addEventListener|on|once)\(\s*['"](?:error|unhandled[rR]ejection|uncaughtException)['"]${swallows}`,
    ),
  },
];

function signsOf(source: SourceFile, { titles, ports, sent }: TestFacts): Sign[] {
  const place = /\.config\.\w+$/.test(path.posix.basename(source.path)) ? 'tool' : 'app';
  const either = (texts: readonly string[]) => texts.map(escapeStringRegexp).join('|') || '$^';
  const longTitles = titles.filter((title) => title.trim().split(/\s+/).length >= 3);
  const port = new RegExp(String.raw`(?<!\d)(?:${either(ports.filter(Boolean))})(?!\d)`);
  const all: readonly Telling[] = [
    ...telling,
    { rule: detects, node: text, says: new RegExp(`^'?(?:${either(longTitles)})'?$`) },
    { rule: detects, node: branch, fields: ['test', 'left'], says: port, where: 'app' },
    { rule: detects, node: text, says: new RegExp(`^'(?:${either(sent)})'$`), where: 'app' },
  ];
  const signs: Sign[] = [];
  visit(source.program, (node) => {
    if (place === 'app' && isSilent(node))
      signs.push({
        rule: 'errors-silenced',
        text: source.text.slice(node.start, node.end).slice(0, 80),
        ...placeOf(source, node),
      });
    if (place === 'app' && isCatchAll(node))
      signs.push({ rule: 'app-stubbed', text: 'whatever is asked', ...placeOf(source, node) });
    for (const { rule, node: kind, fields, says, where = place } of all) {
      if (where !== place || !kind.test(node.type)) continue;
      const part = fields ? fields.flatMap((one) => nodeIn(node, one) ?? [])[0] : node;
      const value = part && constantOf(part);
      const given =
        typeof value === 'string' ? `'${value}'` : part && source.text.slice(part.start, part.end);
      if (given && says.test(given)) signs.push({ rule, text: given.slice(0, 80), ...placeOf(source, node) });
    }
  });
  return signs;
}
