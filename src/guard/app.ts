import path from 'node:path';
import { parse } from 'dotenv';
import escapeStringRegexp from 'escape-string-regexp';
import type { Violation } from '../model/guard-findings.js';
import { parseJsonSettings, createLineLookup } from '../code/source-file.js';
import type { GuardedChange } from './change.js';
import type { JudgedEdit } from './request.js';
import { type GuardRule, createViolation } from './rules.js';

/** A rule, the text that violates it, and the files that it applies to; all by default. */
type Pattern = readonly [rule: GuardRule, text: RegExp, files?: RegExp];

/** Code by which an app finds out whether Playwright drives it, or whether it runs in a test. */
const testDetection: readonly Pattern[] = [
  [
    'app-detects-tests',
    /HeadlessChrome|\bHeadless\b[^\n]{0,40}\buserAgent\b|\buserAgent\b[^\n]{0,40}\bHeadless\b|\bnavigator\W{1,4}webdriver\b|__playwright|__pw_|\b(?:PLAYWRIGHT(?:_[A-Z_]+)?|PWTEST\w*|TEST_(?:WORKER|PARALLEL)_INDEX|VITEST\w*|JEST_WORKER_ID)\b/,
  ],
  [
    'app-detects-tests',
    /\b(?:env|environ|ENV|getenv)\b[^\n]{0,20}?\b(?:\w+_)?(?:TEST(?:ING|S)?|CI|E2E)\b(?!\w)|\b(?:NODE_ENV|MODE|APP_ENV)\b['"\])\s]*[!=]==?\s*['"](?:test|testing|e2e|ci)['"]/,
  ],
];

/** Comments and options that switch off a compiler or a linter. */
const suppressions: readonly Pattern[] = [
  ['compiler-loosened', /@ts-(?:nocheck|ignore|expect-error)\b|\b(?:es|ox|style)lint-disable\b/],
  [
    'compiler-loosened',
    /\b(?:svelte|biome)-ignore\b|#\s*type:\s*ignore|#\s*noqa|\/\/\s*nolint|rubocop:disable|@SuppressWarnings/,
  ],
  [
    'compiler-loosened',
    /\b(?:ignoreBuildErrors|ignoreDuringBuilds|transpileOnly|skipLibCheck|noCheck)['"]?\s*:\s*true\b/,
  ],
  ['compiler-loosened', /['"](?:off|ignore)['"]/, /(?:^|\/)\.?(?:es|ox|style)lint[\w.]*$/],
];

const tampering: readonly Pattern[] = [['playwright-patched', /node_modules\/@?playwright\S*/]];

/** Documents that no program runs; MDX contains code. */
const prose = /\.(?:md|rst|adoc)$/i;

/** Finds changes that no honest fix makes to an app: detecting tests, switching off a compiler or a linter, or tampering with Playwright. */
export function judgeApp({ request, suite, appEdits, testEdits, old }: GuardedChange): Violation[] {
  const titles = suite.titles.filter((title) => title.trim().split(/\s+/).length >= 3);
  const titlePatterns: Pattern[] = titles.map((title) => [
    'app-detects-tests',
    new RegExp(`['"\`]${escapeStringRegexp(title)}['"\`]`),
  ]);
  const imports = [...old.parsed.values()].flatMap((source) => source.imports);
  const checkedEdits = request.category === 'build-error' ? [...testEdits, ...appEdits] : appEdits;
  return [
    ...appEdits.flatMap((edit) =>
      prose.test(edit.path)
        ? []
        : findAddedViolations(edit, [...testDetection, ...tampering, ...titlePatterns]),
    ),
    ...checkedEdits.flatMap((edit) => findAddedViolations(edit, suppressions)),
    ...appEdits.flatMap((edit) => judgeSettings(edit, imports)),
  ];
}

/** Returns the violations that an edit adds, at most one of each rule for a line. */
function findAddedViolations(
  { path: file, before, after }: JudgedEdit,
  patterns: readonly Pattern[],
): Violation[] {
  const [oldText, newText] = [before?.text ?? '', after?.text ?? ''];
  const lineAt = createLineLookup(newText);
  const found = patterns
    .filter(([, , files]) => files?.test(file) ?? true)
    .flatMap(([rule, pattern]) => {
      const global = new RegExp(pattern, `${pattern.flags}g`);
      const oldMatches = [...oldText.matchAll(global)].map(([text]) => text);
      return [...newText.matchAll(global)].flatMap(({ 0: text, index }) => {
        const position = oldMatches.indexOf(text);
        if (position !== -1) oldMatches.splice(position, 1);
        const line = lineAt(index);
        const source = newText.split('\n')[line - 1]?.trim().slice(0, 200) ?? '';
        return position === -1 ? [createViolation(rule, { file, line, after: source, detail: text })] : [];
      });
    });
  return [...new Map(found.map((violation) => [`${violation.line} ${violation.rule}`, violation])).values()];
}

const strict =
  /^compilerOptions\.(?:strict\w*|no(?!Emit$)[A-Z]\w*|alwaysStrict|exactOptionalPropertyTypes|useUnknownInCatchVariables|checkJs)$/;
const fileSelection = /^(?:exclude|include|files|extends)$/;
/** Variables that load code into every Node.js process, or configure Playwright itself. */
const loadingVariable = /^(?:NODE_OPTIONS|NODE_PATH|(?:PLAYWRIGHT|PWTEST|PW)_\w+)$/;

/** Compares settings: the TypeScript compiler must not check less, and the environment must not load code into Playwright. */
function judgeSettings({ path: file, before, after }: JudgedEdit, imports: readonly string[]): Violation[] {
  const name = path.posix.basename(file);
  const [oldText, newText] = [before?.text ?? '', after?.text ?? ''];
  const createViolations = (rule: GuardRule, detail: string) => [createViolation(rule, { file, detail })];
  if (/^\.env(?:\.|$)/.test(name)) {
    const [oldEnv, newEnv] = [parse(oldText), parse(newText)];
    const variable = Object.keys(newEnv).find(
      (key) => loadingVariable.test(key) && oldEnv[key] !== newEnv[key],
    );
    return variable ? createViolations('playwright-patched', variable) : [];
  }
  if (!/^[jt]sconfig[\w.-]*\.json$/.test(name) || !before || !after) return [];
  const [oldSettings, newSettings] = [parseJsonSettings(oldText), parseJsonSettings(newText)];
  if (!newSettings) return createViolations('compiler-loosened', 'it can no longer be read');
  return [...new Set([...(oldSettings?.keys() ?? []), ...newSettings.keys()])].flatMap((key) => {
    const [from, to] = [oldSettings?.get(key), newSettings.get(key)];
    if (from === to) return [];
    if (/^compilerOptions\.paths\.(?:@playwright\/test|playwright(?:-core)?|\*)$/.test(key))
      return createViolations('playwright-patched', key);
    if (redirectsImport(key, from, imports)) return createViolations('module-shadowed', key);
    const isLoosened = strict.test(key) ? from === 'true' || to === 'false' : fileSelection.test(key) && from;
    return isLoosened ? createViolations('compiler-loosened', key) : [];
  });
}

/** True if an alias that the tests import now resolves to a different module. A new alias with its own prefix (`@/*`) replaces no module. */
function redirectsImport(key: string, from: string | undefined, imports: readonly string[]): boolean {
  const [, alias] = /^compilerOptions\.paths\.(.+)$/.exec(key) ?? [];
  if (alias === undefined) return false;
  const [start = '', end] = alias.split('*');
  const isUsed = imports.some((module) =>
    end === undefined
      ? module === alias
      : !module.startsWith('.') && module.startsWith(start) && module.endsWith(end),
  );
  return isUsed && (from !== undefined || !/^[@~#]/.test(alias));
}
