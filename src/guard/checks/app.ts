import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import type { Violation } from '../../core/guard/violation.js';
import type { Change } from '../change.js';
import { constantOf, nameOf } from '../../code/expressions.js';
import { isCode } from '../../code/imports.js';
import { programsIn, withoutScripts } from '../../code/scripts.js';
import { linesOf, parseSource, type Place, placeOf, type SourceFile } from '../../code/source-file.js';
import { nodeIn, nodesIn, nodesOf, type SyntaxNode, visit } from '../../code/syntax.js';
import { type FileEdit, isUnparsable } from '../edit.js';
import { type Rule, violationOf } from '../rules.js';
import { isCatchAll, isSilent } from './failures.js';
import { addedElsewhere, anyOf, otherLanguage, unlintedElsewhere } from './other-languages.js';
import { holds } from './settings.js';
import { isBypass, usesIn } from './uses.js';

/** Facts about the tests that an app has no business to know. */
interface TestFacts {
  readonly titles: readonly string[];
  /** Ports of the server that the tests start. */
  readonly ports: readonly string[];
  /** Headers and user agents that only the tests send. */
  readonly sent: readonly string[];
  readonly paths: ReadonlySet<string>;
  /** Whether a module is the project's own. */
  readonly isOwn: (file: string, source: string) => boolean;
}

/** A sign that the app special-cases the tests, pretends something, or refuses something. */
export interface Sign extends Place {
  readonly rule: Rule;
  readonly text: string;
}

/** Finds cheats that a fix adds to the app: it detects tests, is replaced by a stub, or hides errors (HN-3). */
export function judgeApp({ request, suite, old, ofApp, ofTests, paths }: Change): Violation[] {
  const config = (suite.config !== null && old.parsed.get(suite.config)?.text) || '';
  const ports = config.matchAll(/(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})|\bport:\s*(\d{2,5})/g);
  const facts = {
    titles: suite.titles,
    ports: [...ports].map((match) => match[1] ?? match[2] ?? ''),
    sent: [...old.parsed.values()].flatMap(sentBy),
    paths,
    isOwn: (file: string, source: string) => old.importedFile(file, source) !== null,
  };
  // Silencing the compiler or a linter does not fix a build error, not even in the tests.
  const built = request.category === 'build-error' ? [...ofTests, ...ofApp] : [];
  return [
    ...ofApp.filter(isUnparsable).map(({ path: file }) => {
      return violationOf('cannot-be-judged', { file, detail: 'it no longer parses' });
    }),
    ...ofApp.flatMap((edit) => added(edit, (text) => signsIn(edit.path, text, facts))),
    ...built.flatMap((edit) => added(edit, (text) => signsOfText(edit.path, text, unlinted))),
  ];
}

const header = /^(?:extraHTTPHeaders|userAgent)$/;
const usual = /^(?:|(?:accept|authorization|content-type|cookie|origin)\b.*)$/i;

/** Returns what a test file sends with every request: `extraHTTPHeaders`, `userAgent`. */
function sentBy({ text, program }: SourceFile): string[] {
  const sent = nodesOf(/extraHTTPHeaders|userAgent/.test(text) ? program : null).flatMap((node) => {
    const value = header.test(nameOf(nodeIn(node, 'key')) ?? '') ? nodeIn(node, 'value') : null;
    const parts = nodesIn(value, 'properties').flatMap((one) => [nodeIn(one, 'key'), nodeIn(one, 'value')]);
    return [value, ...parts].map((one) => nameOf(one) ?? '');
  });
  return sent.filter((one) => !usual.test(one));
}

function added({ path: file, before, after }: FileEdit, signs: (text: string) => Sign[]): Violation[] {
  const [olds = [], news = []] = [before, after].map((one) => signs(one?.text ?? ''));
  return without(news, olds).map(({ rule, text: detail, line, source }) =>
    violationOf(rule, { file, line, after: source, detail }),
  );
}

/** Returns the signs that have no counterpart among the others. Signs with the same line of code are matched first. */
export function without(some: readonly Sign[], others: readonly Sign[]): Sign[] {
  const left = [...others];
  const isLeft = (isSame: (one: Sign, other: Sign) => boolean) => (one: Sign) => {
    const at = left.findIndex((other) => isSame(one, other));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  };
  const isAlike = (one: Sign, other: Sign) => one.rule === other.rule && one.text === other.text;
  return some
    .filter(isLeft((one, other) => isAlike(one, other) && one.source === other.source))
    .filter(isLeft(isAlike));
}

const otherText =
  /\.(?:vue|svelte|astro|mdx|ejs|hbs|conf|json|ya?ml|css|s[ac]ss|less|sh|sql|patch|diff|d\.[mc]?ts)$/;

function signsIn(file: string, text: string, facts: TestFacts): Sign[] {
  if (!isCode(file) && !otherText.test(file) && !otherLanguage.test(file)) return [];
  const always = signsOfText(file, text, [...silencing, ...addedElsewhere]);
  const programs = file.endsWith('.d.ts') ? [parseSource(file, text) ?? []].flat() : programsIn(file, text);
  const signs = [...always, ...programs.flatMap((one) => signsOf(one, facts))];
  // A file that does not parse is for the compiler to judge, but its text counts all the same.
  const isRead = isCode(file) && programs.length > 0;
  return isRead ? signs : [...signs, ...signsOfText(file, withoutScripts(text), inAnyLanguage)];
}

const detects: Rule = 'app-detects-tests';
const loosened: Rule = 'compiler-loosened';
/** A rule and the text that breaks it, in all files or only in `files`. `part` blanks out what does not count. */
export type Pattern = readonly [rule: Rule, says: RegExp, files?: RegExp, part?: (text: string) => string];

/** Text that no honest app contains, in any language. */
const inAnyLanguage: readonly Pattern[] = [
  [detects, /HeadlessChrome|\bnavigator\.webdriver|\bPLAYWRIGHT(?:_[A-Z_]+)?\b|__playwright|__pw_/],
  ['hidden-by-style', /\b(?:display:\s*none|visibility:\s*hidden)\s*!important/],
];
const letsIn: Rule = 'security-loosened';
const unrestrained: Rule = 'restraint-removed';
/** Text that tampers with Playwright, loosens checks or access control, silences errors by comment, or drops a constraint for good. */
const silencing: readonly Pattern[] = [
  ['protected-file', /node_modules\/@?playwright\S*/],
  [
    loosened,
    anyOf(
      /\b(?:skip|ignore|disable|suppress|bypass|allow)\w*?(?:Errors?|Warnings?|Checks?|Lint\w*|Types?|Validation|Auth\w*|Csrf|Origins?|Builds?)\b['"]?\s*(?::\s*true\b|=\{true)/,
      /\btranspileOnly['"]?\s*:\s*true\b|\bdts['"]?\s*:\s*false\b|\bsuppressHydrationWarning\b(?!=\{false)/,
      /@ts-(?:nocheck|ignore|expect-error)\b|\boverlay['"]?\s*:\s*false\b/,
      // A health check that never fails.
      /\btest:\s*\[?\s*(?:['"]CMD(?:-SHELL)?['"],\s*)?['"]?(?:true|exit 0)\b/,
    ),
  ],
  [letsIn, /\benv\.\w*(?:SECRET|PASSWORD)\w*\s*(?:\?\?|\|\|)\s*['"`]\w/],
  [
    letsIn,
    /NODE_TLS_REJECT_UNAUTHORIZED|\b(?:(?:check|verify|validate|reject|enforce)[A-Z]\w*|httpOnly|csrf)['"]?\s*:\s*false\b|\bsameSite['"]?\s*:\s*['"]none/i,
  ],
  [
    'hidden-by-style',
    /(?:alert|error|toast|portal)["']?\]?\s*\{[^{}]*(?:display:\s*none|visibility:\s*hidden)/,
  ],
  [letsIn, /disable\s+row\s+level\s+security|grant\s+all\b[^;]*\bto\s+(?:anon|public)\b/i],
  [letsIn, /create\s+policy(?![^;]*\bfor\s+select\b)[^;]*(?:using|with\s+check)\s*\(\s*true\s*\)/i],
  [unrestrained, /session_replication_role\s*=\s*'?replica(?![^]*=\s*'?(?:origin|default))/i],
  [unrestrained, /foreign_key(?:_check)?s\s*=\s*(?:0|off)\b(?![^]*foreign_key(?:_check)?s\s*=\s*(?:1|on))/i],
  [unrestrained, /\bdrop\s+(constraint|check|foreign\s+key|policy|trigger)\b(?![^]*\b(?:add|create)\s+\1)/i],
  [unrestrained, /\bdrop\s+not\s+null\b|\bdisable\s+trigger\b/i],
  [
    unrestrained,
    /^-(?!-).*\b(?:throw|reject|raise)\b(?![^]*^\+.*\b(?:throw|reject|raise)\b)/m,
    /\.(?:patch|diff)$/,
  ],
];
const unlinted: readonly Pattern[] = [
  ...silencing,
  unlintedElsewhere,
  [loosened, /\b(?:(?:svelte|biome)-ignore|(?:es|ox|style)lint-disable)\b/],
];
export function signsOfText(file: string, text: string, patterns: readonly Pattern[]): Sign[] {
  const concerning = patterns.filter(([, , files]) => files?.test(file) ?? true);
  const [lines, lineAt] = [text.split('\n'), linesOf(text)];
  return concerning.flatMap(([rule, pattern, , part]) =>
    [...(part?.(text) ?? text).matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((match) => {
      const line = lineAt(match.index);
      const source = (lines[line - 1] ?? '').trim().slice(0, 200);
      return { rule, text: match[0].replaceAll(/\s+/g, ' ').slice(0, 80), file, line, source };
    }),
  );
}

const pretence = /^'(?:.*[/._-])?(?:mocks?|fakes?|stubs?|msw|nock|miragejs|fetch-mock|sinon)(?:[/._-].*)?'$/i;
const text = /^(?:Literal|Template\w+|BinaryExpression)$/;
const branch = /^(?:If|Conditional|Logical)/;

/** The field from which the text of a node is taken; nodes of other types are taken as a whole. */
const parts: readonly (readonly [node: RegExp, part: string])[] = [
  [/^(?:If|Conditional)/, 'test'],
  [/^Logical/, 'left'],
  [/^Property$/, 'value'],
  [/^(?:Import|Export)/, 'source'],
];

/** A rule, and the types of nodes and the text that break it. `where` limits it to the app, or to the config files of build tools. */
type Telling = readonly [rule: Rule, node: RegExp, says: RegExp, where?: 'app' | 'tool'];

const telling: readonly Telling[] = [
  // Environment variables that only a test run sets, and how Playwright's browser identifies itself.
  [
    detects,
    /^(?:Identifier|Literal|BinaryExpression)$/,
    /^'?(?:(?:\w+_)?(?:PLAYWRIGHT|E2E)(?:_\w+)?|PW_\w+|PWTEST\w*|TEST_(?:WORKER|PARALLEL)_INDEX|VITEST\w*|JEST_WORKER_ID|SELF_HEAL\w*|webdriver|__(?:playwright|pw)\w*)'?$/,
  ],
  [
    detects,
    text,
    /HeadlessChrome|^\/.*headless.*\/\w*$|\bplaywright\b.*\buser-?agent\b|^'?(?:Playwright\/|x[-_]playwright)|playwright[-_](?:test|run)/i,
  ],
  // Conditions on the environment: that this is a test run, or that it is anything other than what users have.
  [
    detects,
    /^(?:If|Cond|Logical|Bin)/,
    /\benv\b[^]*\b(?:TEST|CI)\b|^(?=[^]*\b(?:env|NODE_ENV|MODE)\b)[^]*(?:['"](?:test|testing|e2e)['"]|!==?\s*['"]\w)/,
    'app',
  ],
  [detects, /^Lit/, /^'x-(?:test|mock|bypass|skip)\b[^'\s]*'$/i, 'app'],
  [detects, /^Lit/, /^'(?:[^'/\s]*[^a-z\d'/\s])?(?:e2e|playwright)(?:[^a-z\d'/\s][^'/\s]*)?'$/i, 'app'],
  // Silencing a compiler or a linter.
  [loosened, /^TSAs/, /\bas\s+any$/],
  [loosened, /^Property$/, /^'(?:off|ignore|silent)'$|^\[\s*['"]off['"]/, 'tool'],
  [letsIn, /^Object/, /(?=[^]*\bcredentials:\s*true)\borigin:\s*(?:true|['"]\*|\(?(\w+)\)?\s*=>\s*\1\b)/],
  // A stub between app and server: a mocking package, a replaced `fetch`, a service worker that makes up responses, or an alias.
  ['app-stubbed', /^(?:Import|Export)/, pretence],
  ['app-stubbed', text, /^'export\b/, 'tool'],
  ['app-stubbed', /^Property$/, new RegExp(`(?=^'[./@~])${pretence.source}`, 'i'), 'tool'],
  ['app-stubbed', /^Call/, /\.respondWith\(\s*new\s|^require\((?:["']).*(?:mock|fake|stub|msw|nock|sinon)/],
  [
    'app-stubbed',
    /^Assign/,
    /^(?:window|globalThis|global|self)(?:\.|\[['"])(?:fetch|XMLHttpRequest|WebSocket|EventSource)\b/,
  ],
];

/** Returns the existing files that a linter or a bundler is told to leave out. */
function leftOut(node: SyntaxNode, paths: ReadonlySet<string>): string[] {
  const isList = /^(?:ignores|ignorePatterns|exclude)$/.test(nameOf(nodeIn(node, 'key')) ?? '');
  const list = isList ? nodesIn(nodeIn(node, 'value'), 'elements') : [];
  return list.flatMap((one) => (holds(nameOf(one) ?? '', paths) ? (nameOf(one) ?? []) : []));
}

/** A wait for a fixed time of at least 50 ms. */
const pause = /\b(?:setTimeout|sleep|delay|wait|pause)\((?:[^]*\D)?(?:[5-9]\d|\d{3,})\)+$/;

function signsOf(source: SourceFile, { titles, ports, sent, paths, isOwn }: TestFacts): Sign[] {
  const place = /\.config\.\w+$/.test(path.posix.basename(source.path)) ? 'tool' : 'app';
  const either = (texts: readonly string[]) => texts.map(escapeStringRegexp).join('|') || '$^';
  const longTitles = titles.filter((title) => title.trim().split(/\s+/).length >= 3);
  const all: readonly Telling[] = [
    ...telling,
    [detects, text, new RegExp(`^'?(?:${either(longTitles)})'?$`)],
    [detects, branch, new RegExp(String.raw`(?<!\d)(?:${either(ports.filter(Boolean))})(?!\d)`), 'app'],
    [detects, text, new RegExp(`^'(?:${either(sent)})'$`), 'app'],
  ];
  const signs: Sign[] = [];
  const use = usesIn(source.program);
  visit(source.program, (node) => {
    const [, field] = parts.find(([kind]) => kind.test(node.type)) ?? [];
    const part = field === undefined ? node : nodeIn(node, field);
    const value = part && constantOf(part);
    const given = typeof value === 'string' ? `'${value}'` : source.text.slice(part?.start, part?.end);
    const add = (rule: Rule) => signs.push({ rule, text: given.slice(0, 80), ...placeOf(source, node) });
    if (isSilent(node, use)) add('errors-silenced');
    if (node.type === 'AwaitExpression' && !use.looped.has(node) && pause.test(given)) add('sleep-added');
    if (isBypass(node, use)) add('app-detects-tests');
    if (place === 'tool')
      signs.push(...leftOut(node, paths).map((text) => ({ rule: loosened, text, ...placeOf(source, node) })));
    const [key, module] = [nameOf(nodeIn(node, 'key')) ?? '', nameOf(nodeIn(node, 'id')) ?? ''];
    if (node.type === 'Property' && value === false && isOwn(source.path, key)) add('app-stubbed');
    if (node.type === 'TSModuleDeclaration' && !node['body'] && isOwn(source.path, module)) add(loosened);
    if (isCatchAll(node)) add('app-stubbed');
    for (const [rule, kind, says, where = place] of part ? all : [])
      if (where === place && kind.test(node.type) && says.test(given)) add(rule);
  });
  return signs;
}
