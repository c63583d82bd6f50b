import path from 'node:path';
import type { Violation } from '../../core/guard/violation.js';
import { isCode } from '../code/imports.js';
import {
  bare,
  constantOf,
  cookedText,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  parseSource,
  type Place,
  placeOf,
  propertyOf,
  type SourceFile,
  type SyntaxNode,
  visit,
} from '../code/syntax.js';
import type { FileEdit } from '../edit.js';
import { type Rule, violationOf } from '../rules.js';

/** What is known of the tests, that an app has no business to know. */
export interface TestFacts {
  readonly titles: readonly string[];
  /** Ports that only the tests' server has. */
  readonly ports: readonly string[];
}

/** A sign that the app special-cases the tests, or pretends. */
interface Sign extends Place {
  readonly rule: Rule;
  readonly text: string;
}

/** Finds what a fix adds to the app that is no fix: it asks whether it is tested, or a pretence takes its place (HN-3). */
export function judgeApp({ path: file, before, after }: FileEdit, facts: TestFacts): Violation[] {
  const olds = signsIn(file, before?.text ?? '', facts).map(({ rule, text }) => `${rule} ${text}`);
  return signsIn(file, after?.text ?? '', facts).flatMap(({ rule, text, line, source }) => {
    const known = olds.indexOf(`${rule} ${text}`);
    if (known !== -1) {
      olds.splice(known, 1);
      return [];
    }
    return [violationOf(rule, { file, line, after: source, detail: text })];
  });
}

const markup = /\.(?:vue|svelte|astro|html?|mdx)$/;
const otherText = /\.(?:py|rb|php|go|java|kt|cs|rs|ex|exs|erb|ejs|hbs|twig|jinja|conf|json|ya?ml)$/;

function signsIn(file: string, text: string, facts: TestFacts): Sign[] {
  if (file.endsWith('.sql')) return lines(file, text, openDoors);
  if (isCode(file)) {
    const source = parseSource(file, text);
    // A file that is broken is for the compiler to judge; what it says counts all the same.
    return source ? signsOf(source, facts) : lines(file, text, certain);
  }
  if (markup.test(file))
    return [...scripts(file, text, facts), ...lines(file, text.replaceAll(script, blanked), certain)];
  return otherText.test(file) ? lines(file, text, certain) : [];
}

const script = /<script\b[^>]*>[\s\S]*?<\/script>/g;
const blanked = (text: string) => text.replaceAll(/[^\n]/g, ' ');
/** What no honest app says, in any language. */
const certain: readonly (readonly [RegExp, Rule])[] = [
  [
    /HeadlessChrome|\bnavigator\.webdriver|\bPLAYWRIGHT(?:_[A-Z_]+)?\b|__playwright|__pw_/,
    'app-detects-tests',
  ],
];
/** Row-level security that lets everybody write. */
const openDoors: readonly (readonly [RegExp, Rule])[] = [
  [/disable\s+row\s+level\s+security/i, 'security-loosened'],
  [
    /create\s+policy(?![^;]*\bfor\s+select\b)[^;]*(?:using|with\s+check)\s*\(\s*true\s*\)/i,
    'security-loosened',
  ],
  [/grant\s+all\b[^;]*\bto\s+(?:anon|public)\b/i, 'security-loosened'],
];

function lines(file: string, text: string, patterns: readonly (readonly [RegExp, Rule])[]): Sign[] {
  return patterns.flatMap(([pattern, rule]) =>
    [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((match) => {
      const line = text.slice(0, match.index).split('\n').length;
      const source = (text.split('\n')[line - 1] ?? '').trim().slice(0, 200);
      return { rule, text: match[0].replaceAll(/\s+/g, ' ').slice(0, 80), file, line, source };
    }),
  );
}

/** The scripts of a page or component, with their lines where they are in the file. */
function scripts(file: string, text: string, facts: TestFacts): Sign[] {
  return [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].flatMap((match) => {
    const start = match.index + match[0].indexOf('>') + 1;
    const source = parseSource(`${file}.ts`, blanked(text.slice(0, start)) + (match[1] ?? ''));
    return source ? signsOf({ ...source, program: source.program, path: file }, facts) : [];
  });
}

function signsOf(source: SourceFile, facts: TestFacts): Sign[] {
  const isTool = /\.config\.\w+$/.test(path.posix.basename(source.path));
  const telling = new Set(facts.titles.filter((title) => title.trim().split(/\s+/).length >= 3));
  const signs: Sign[] = [];
  const add = (rule: Rule, node: SyntaxNode, text: string | null) => {
    if (text !== null) signs.push({ rule, text, ...placeOf(source, node) });
  };
  visit(source.program, (node) => {
    add('app-detects-tests', node, testSign(node, telling));
    if (!isTool) for (const text of deciding(node, facts.ports)) add('app-detects-tests', node, text);
    add('app-stubbed', node, stubSign(node, isTool));
    add('errors-silenced', node, silenced(node));
  });
  return signs;
}

/** Names in an environment that only a test run sets. */
const testVariable =
  /^(?:(?:\w+_)?(?:PLAYWRIGHT|E2E)(?:_\w+)?|PW_\w+|PWTEST\w*|TEST_WORKER_INDEX|TEST_PARALLEL_INDEX|VITEST\w*|JEST_WORKER_ID|SELF_HEAL\w*)$/;

function testSign(node: SyntaxNode, titles: ReadonlySet<string>): string | null {
  if (node.type === 'MemberExpression') {
    const name = propertyOf(node);
    if (name === 'webdriver') return 'navigator.webdriver';
    if (name && /^__(?:playwright|pw)/i.test(name)) return name;
    return name && testVariable.test(name) && isEnvironment(nodeIn(node, 'object'))
      ? `environment ${name}`
      : null;
  }
  if (node.type === 'Identifier')
    return /^__(?:playwright|pw_)/i.test(String(node['name'])) ? String(node['name']) : null;
  const pattern = (node['regex'] as { pattern?: string } | null | undefined)?.pattern;
  if (pattern !== undefined) return /headless/i.test(pattern) ? 'the browser of the tests by its name' : null;
  const text = node.type === 'TemplateElement' ? cookedText(node) : constantOf(node);
  if (typeof text !== 'string') return null;
  if (/HeadlessChrome|\bplaywright\b.*\buser-?agent\b|^Playwright\//i.test(text))
    return 'the browser of the tests by its name';
  if (/^x[-_]playwright|playwright[-_](?:test|run)/i.test(text)) return `what only the tests send: ${text}`;
  return titles.has(text) ? `the title of a test: ${text}` : null;
}

function isEnvironment(node: SyntaxNode | null): boolean {
  return node !== null && (propertyOf(node) === 'env' || nameOf(node) === 'env');
}

/** `if (process.env.CI)`, `NODE_ENV === 'test' ? … : …`, `location.port === '5173' && …`. */
function deciding(node: SyntaxNode, ports: readonly string[]): string[] {
  const isBranch = /^(?:If|Conditional)(?:Statement|Expression)$/.test(node.type);
  const test = isBranch
    ? nodeIn(node, 'test')
    : node.type === 'LogicalExpression' && node['operator'] === '&&'
      ? nodeIn(node, 'left')
      : null;
  if (!test) return [];
  const found: string[] = [];
  const texts = textsIn(test);
  visit(test, (one) => {
    const name = propertyOf(one);
    if (!name || !/^(?:TEST|CI|NODE_ENV|MODE)$/.test(name) || !isEnvironment(nodeIn(one, 'object'))) return;
    if (name === 'TEST' || name === 'CI' || texts.some((text) => /^(?:test|testing|e2e)$/.test(text)))
      found.push(`environment ${name}`);
  });
  const port = texts.find((text) => ports.some((one) => text === one || text.endsWith(`:${one}`)));
  return port === undefined ? found : [...found, `the port of the tests: ${port}`];
}

function textsIn(node: SyntaxNode): string[] {
  const texts: string[] = [];
  visit(node, (one) => {
    const value = constantOf(one);
    if (typeof value === 'string' || typeof value === 'number') texts.push(String(value));
  });
  return texts;
}

const pretence = /(?:^|[/._-])(?:mocks?|fakes?|stubs?|msw|nock|miragejs|fetch-mock|sinon)(?:[/._-]|$)/i;

/** A stub between app and server: a mocking package, a replaced `fetch`, a service worker that makes up answers, an alias. */
function stubSign(node: SyntaxNode, isTool: boolean): string | null {
  if (/^(?:Import|ExportNamed|ExportAll)(?:Declaration|Expression)$/.test(node.type)) {
    const name = nameOf(nodeIn(node, 'source'));
    return name && pretence.test(name) ? `import of ${name}` : null;
  }
  if (node.type === 'AssignmentExpression') {
    const left = nodeIn(node, 'left');
    const name = left && propertyOf(left);
    const of = left && nameOf(nodeIn(left, 'object'));
    return name &&
      /^(?:fetch|XMLHttpRequest|WebSocket|EventSource)$/.test(name) &&
      /^(?:window|globalThis|global|self)$/.test(of ?? '')
      ? `${name} is replaced`
      : null;
  }
  if (node.type === 'CallExpression') {
    const callee = nodeIn(node, 'callee');
    const [first] = nodesIn(node, 'arguments');
    if (callee && propertyOf(callee) === 'respondWith' && first?.type === 'NewExpression')
      return 'an answer that no server gave';
    const required = nameOf(callee) === 'require' && first ? constantOf(first) : null;
    return typeof required === 'string' && pretence.test(required) ? `import of ${required}` : null;
  }
  const value = isTool && node.type === 'Property' ? nodeIn(node, 'value') : null;
  const text = value && constantOf(value);
  return typeof text === 'string' && /^[./@~]/.test(text) && pretence.test(text) ? `alias to ${text}` : null;
}

/** A listener for errors that keeps them from whoever else listens. */
function silenced(node: SyntaxNode): string | null {
  if (node.type === 'AssignmentExpression') {
    const left = nodeIn(node, 'left');
    const name = left && (propertyOf(left) ?? nameOf(left));
    const right = nodeIn(node, 'right');
    return name &&
      /^on(?:error|unhandledrejection)$/.test(name) &&
      right &&
      isFunction(right) &&
      swallows(right)
      ? name
      : null;
  }
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const [event, listener] = nodesIn(node, 'arguments');
  const name = event && constantOf(event);
  if (
    !callee ||
    !listener ||
    typeof name !== 'string' ||
    !/^(?:error|unhandledrejection|unhandledRejection|uncaughtException)$/.test(name)
  )
    return null;
  if (!/^(?:addEventListener|on|once)$/.test(propertyOf(callee) ?? nameOf(callee) ?? '')) return null;
  return isFunction(bare(listener)) && swallows(bare(listener)) ? `a listener for ${name}` : null;
}

/** Whether a handler prevents the default, answers `true`, or does nothing at all. */
function swallows(made: SyntaxNode): boolean {
  const body = nodeIn(made, 'body');
  let found =
    body?.type === 'BlockStatement'
      ? nodesIn(body, 'body').length === 0
      : body !== null && constantOf(body) === true;
  visit(made, (node) => {
    const name = node.type === 'CallExpression' ? propertyOf(nodeIn(node, 'callee') ?? node) : null;
    if (name && /^(?:preventDefault|stopImmediatePropagation)$/.test(name)) found = true;
    const value = node.type === 'ReturnStatement' ? nodeIn(node, 'argument') : null;
    if (value && constantOf(value) === true) found = true;
  });
  return found;
}
