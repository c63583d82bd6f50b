import path from 'node:path';
import type { Mark } from '../../core/guard/outline.js';
import { placeAt } from './place-at.js';
import { isCode } from './resolve-import.js';
import {
  cookedText,
  nameOf,
  nodeIn,
  parseSource,
  propertyOf,
  type SourceFile,
  type SyntaxNode,
  visit,
} from './syntax.js';

const FAMILY = 'app-detects-tests';

/** Names in an environment that only a test run sets. */
const testVariable =
  /^(?:(?:\w+_)?(?:PLAYWRIGHT|E2E)(?:_\w+)?|PW_\w+|PWTEST\w*|TEST_WORKER_INDEX|TEST_PARALLEL_INDEX|VITEST\w*|JEST_WORKER_ID|SELF_HEAL\w*)$/;
/** Names that build tools use as well: they count only where they decide something. */
const perhapsVariable = /^(?:TEST|CI|NODE_ENV|MODE)$/;

/** Finds where the app asks whether it is tested; certain signs only (HN-3). Titles are those of the tests. */
export function readAppMarks(file: string, text: string, titles: readonly string[]): Mark[] {
  if (otherLanguages.test(file)) return linesOf(file, text);
  return scriptsOf(file, text).flatMap((source) => marksOf(source, titles));
}

const otherLanguages = /\.(?:py|rb|php|go|java|kt|cs|rs|ex|exs|erb|ejs|hbs|twig|jinja|sql|conf)$/;

/** Code that the guard cannot parse: only what no honest app says. */
function linesOf(file: string, text: string): Mark[] {
  return text.split('\n').flatMap((line, index) => {
    const sign = /HeadlessChrome|navigator\.webdriver|\bPLAYWRIGHT(?:_[A-Z_]+)?\b/.exec(line)?.[0];
    const source = line.trim().slice(0, 200);
    return sign ? [{ family: FAMILY, text: sign, amount: null, file, line: index + 1, source }] : [];
  });
}

/** A script with its lines where they are in the file. */
function scriptsOf(file: string, text: string): SourceFile[] {
  if (isCode(file)) return present(parseSource(file, text));
  if (!/\.(?:vue|svelte|astro|html?)$/.test(file)) return [];
  return [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].flatMap((match) => {
    const body = match[1] ?? '';
    const start = match.index + match[0].indexOf('>') + 1;
    const above = text.slice(0, start).replaceAll(/[^\n]/g, ' ');
    return present(parseSource(`${file}.ts`, above + body)).map((one) => ({ ...one, path: file }));
  });
}

function present<T>(value: T | null): T[] {
  return value === null ? [] : [value];
}

function marksOf(source: SourceFile, titles: readonly string[]): Mark[] {
  const isTool = /\.config\.\w+$/.test(path.posix.basename(source.path));
  const telling = new Set(titles.filter((title) => title.trim().split(/\s+/).length >= 3));
  const marks: Mark[] = [];
  const add = (node: SyntaxNode, text: string) =>
    marks.push({ family: FAMILY, text, amount: null, ...placeAt(source, source.lineAt(node.start)) });
  visit(source.program, (node) => {
    const sign = signOf(node, telling);
    if (sign) add(node, sign);
    if (!isTool) for (const text of decidingVariables(node)) add(node, text);
  });
  return marks;
}

function signOf(node: SyntaxNode, titles: ReadonlySet<string>): string | null {
  if (node.type === 'MemberExpression') {
    const name = propertyOf(node);
    if (name === 'webdriver') return 'navigator.webdriver';
    if (name && /^__(?:playwright|pw)/i.test(name)) return name;
    return name && testVariable.test(name) && isEnvironment(nodeIn(node, 'object'))
      ? `environment ${name}`
      : null;
  }
  if (node.type === 'Identifier' && /^__(?:playwright|pw_)/i.test(String(node['name'])))
    return String(node['name']);
  const text = node.type === 'TemplateElement' ? cookedText(node) : nameOf(node);
  if (node.type === 'Identifier' || text === null) return literalSign(node);
  if (/HeadlessChrome|\bplaywright\b.*\buser-?agent\b|^Playwright\//i.test(text))
    return 'the browser of the tests by its name';
  if (/^x[-_]playwright|playwright[-_](?:test|run)/i.test(text)) return `what only the tests send: ${text}`;
  return titles.has(text) ? `the title of a test: ${text}` : null;
}

/** `/Headless/.test(navigator.userAgent)` */
function literalSign(node: SyntaxNode): string | null {
  const pattern =
    node.type === 'Literal' ? (node['regex'] as { pattern?: string } | undefined)?.pattern : undefined;
  return pattern !== undefined && /headless/i.test(pattern) ? 'the browser of the tests by its name' : null;
}

function isEnvironment(node: SyntaxNode | null): boolean {
  return node !== null && (propertyOf(node) === 'env' || nameOf(node) === 'env');
}

/** `if (process.env.CI)`, `NODE_ENV === 'test' ? … : …`, `TEST && …`. */
function decidingVariables(node: SyntaxNode): string[] {
  const test =
    node.type === 'IfStatement' || node.type === 'ConditionalExpression'
      ? nodeIn(node, 'test')
      : node.type === 'LogicalExpression' && node['operator'] === '&&'
        ? nodeIn(node, 'left')
        : null;
  if (!test) return [];
  const found: string[] = [];
  visit(test, (one) => {
    const name = propertyOf(one);
    if (!name || !perhapsVariable.test(name) || !isEnvironment(nodeIn(one, 'object'))) return;
    if (name === 'TEST' || name === 'CI' || comparesWithTest(test)) found.push(`environment ${name}`);
  });
  return found;
}

function comparesWithTest(condition: SyntaxNode): boolean {
  let found = false;
  visit(condition, (node) => {
    if (node.type === 'Literal' && /^(?:test|testing|e2e)$/.test(nameOf(node) ?? '')) found = true;
  });
  return found;
}
