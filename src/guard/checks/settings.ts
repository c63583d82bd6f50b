import path from 'node:path';
import { parse } from 'dotenv';
import type { Violation } from '../../core/guard/violation.js';
import { jsonSettings, type Settings } from '../../code/json-settings.js';
import type { Change } from '../change.js';
import { type FileEdit, isReverted } from '../edit.js';
import { type Rule, violationOf } from '../rules.js';

/** What is known about the tests, and the files of the project before the change. */
interface Known {
  readonly imports: ReadonlySet<string>;
  /** Environment variables that the tests read. */
  readonly variables: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

/** A setting that changed. */
interface Setting extends Known {
  readonly name: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Whether the file existed before the change. */
  readonly isOld: boolean;
  /** The name of the package that the settings belong to. */
  readonly package: string;
  readonly folder: string;
}

type Family = readonly [
  files: RegExp,
  read: (text: string) => Settings | null,
  rules: readonly SettingRule[],
];
type SettingRule = readonly [setting: RegExp, rule: Rule, isBroken: (setting: Setting) => boolean];

/** Names of steps that check the code. */
const checking =
  /(?:^|[\s"':/^])(?:type-?check|check|lint|tsc|eslint|biome|svelte-check|vue-tsc|audit)(?=$|[\s"':])/;

const isSet = ({ to }: Setting) => to !== undefined;
const isTurnedOn = ({ to = '' }: Setting) => !/^(?:|0|false|no|off|null)$/i.test(to);

/** Rules for compiler settings: what they check may not be loosened. */
const compiler: readonly SettingRule[] = [
  [/^compilerOptions\.(?:skip(?:Default)?LibCheck|noCheck)$/, 'compiler-loosened', ({ to }) => to === 'true'],
  [
    /^compilerOptions\.(?:strict\w*|no(?!Emit$)[A-Z]\w*|alwaysStrict|exactOptionalPropertyTypes|useUnknownInCatchVariables|forceConsistentCasingInFileNames|checkJs)$/,
    'compiler-loosened',
    ({ from, to }) => from === 'true' || to === 'false',
  ],
  [/^(?:exclude|include|files)$/, 'compiler-loosened', ({ isOld }) => isOld],
  [/^extends$/, 'compiler-loosened', ({ from }) => from !== undefined],
  [/^compilerOptions\.paths\.(?:@playwright\/test|playwright(?:-core)?|\*)$/, 'expect-replaced', isSet],
  [/^compilerOptions\.paths\./, 'module-shadowed', leadsElsewhere],
];

/** Names of variables that make the app behave differently from the one that users have. */
const pretence = String.raw`(?:\w+_)?(?:MOCKS?|MOCKED|FAKES?|STUBS?|MSW|E2E|PLAYWRIGHT|BYPASS)(?:_\w+)?`;

/** Rules for how the tests start, with which Playwright, and which packages they use. An agent may change other packages and scripts. */
const manifest: readonly SettingRule[] = [
  [/^scripts\..*(?:^|[.:-])(?:pre|post)?(?:test|e2e|playwright)(?:$|[:-])/, 'package-changed', () => true],
  [/^scripts\./, 'package-changed', ({ from = '', to = '' }) => /\bplaywright\b/.test(`${from}\n${to}`)],
  [/^scripts\./, 'compiler-loosened', isForgiving],
  [/^scripts\./, 'environment-changed', isPretending],
  [/^imports\./, 'package-changed', () => true],
  [
    /^(?:\w*[dD]ependencies\.|overrides\.|resolutions\.|pnpm\.).*(?<=[./>])(?:@playwright\/test|playwright(?:-core)?)(?:$|[.@])/,
    'package-changed',
    () => true,
  ],
  [/^\w*[dD]ependencies\./, 'package-changed', comesFromElsewhere],
  [/^(?:\w*[dD]ependencies|overrides|resolutions|pnpm\.overrides)\./, 'app-stubbed', leadsToNewFolder],
  [/^(?:name|main|module|exports)(?:\.|$)/, 'module-shadowed', leadsImportersElsewhere],
];

/** Rules against environment settings that would give the tests another Playwright, or an app that only pretends to work. */
const environment: readonly SettingRule[] = [
  // Variables that load code into every Node.js process, or configure Playwright itself.
  [
    /^(?:NODE_OPTIONS|NODE_PATH|NODE_TLS_REJECT_UNAUTHORIZED|node-options|script-shell|yarnPath|(?:PLAYWRIGHT|PWTEST|PW)_\w+)$/,
    'environment-changed',
    isSet,
  ],
  [new RegExp(`^${pretence}$`, 'i'), 'environment-changed', isTurnedOn],
  [/./, 'security-loosened', ({ from = '', to = '' }) => superuser.test(to) && !superuser.test(from)],
  // Numbers are allowed: a port must follow the server's.
  [/./, 'environment-changed', ({ name, to = '', variables }) => variables.has(name) && !/^\d*$/.test(to)],
];

/** A connection as a database user whom no access rule restricts. */
const superuser = /:\/\/(?:root|postgres|sa|admin|super\w*)[:@]/;

/** Rules for commands of a build, a start script or an image: they must be able to fail, and checks must stay. */
const commands: readonly SettingRule[] = [
  [/^set$/, 'compiler-loosened', ({ from = '', to = '' }) => /-\w*e/.test(from) && !/-\w*e/.test(to)],
  [/./, 'compiler-loosened', isForgiving],
  [checking, 'compiler-loosened', ({ to }) => to === undefined],
  [/./, 'environment-changed', isPretending],
];

/** Rules for tools with JSON settings: checks may not be switched off, dropped from a list of steps, or told to skip files. */
const tools: readonly SettingRule[] = [
  [/./, 'compiler-loosened', ({ from = '', to }) => to !== undefined && severity(to) < severity(from)],
  [
    /./,
    'compiler-loosened',
    ({ from = '', to = '' }) =>
      from.startsWith('[') && wordsOf(from).some((one) => checking.test(one) && !wordsOf(to).includes(one)),
  ],
  [/./, 'compiler-loosened', leavesOut],
];

/** Files that hold settings, how they are parsed, and the rules that judge them. */
const families: readonly Family[] = [
  [/(?:^|\/)[jt]sconfig[\w.-]*\.json$/, jsonSettings, compiler],
  [/(?:^|\/)package\.json$/, jsonSettings, manifest],
  [
    /(?:^|\/)(?:\.env(?:\.[\w.-]+)?|\.npmrc|\.yarnrc(?:\.yml)?)$/,
    (text) => new Map(Object.entries(parse(text))),
    environment,
  ],
  [/(?:^|\/)(?:\w*Makefile|[\w.-]*Dockerfile|[^/]+\.sh)$/, commandsIn, commands],
  [/(?:^|\/)(?:turbo|nx|project|biome|\.eslintrc|\.oxlintrc|\.swcrc)\.jsonc?$/, jsonSettings, tools],
];

/** Compares the settings of compilers, packages, environments and tools (HN-3). For each setting, the first rule that it breaks counts. */
export function judgeSettings({ edits, old, paths }: Change): Violation[] {
  const tests = [...old.parsed.values()];
  const variables = tests.flatMap(({ text }) => [...text.matchAll(/\benv(?:\.|\[['"])(\w+)/g)]);
  const known = {
    imports: new Set(tests.flatMap((file) => file.imports)),
    variables: new Set(variables.map(([, name = '']) => name)),
    paths,
  };
  return edits.flatMap((edit) => {
    const family = isReverted(edit) ? undefined : families.find(([files]) => files.test(edit.path));
    return family ? changedIn(edit, family, known) : [];
  });
}

function changedIn(
  { path: file, before, after }: FileEdit,
  [, read, rules]: Family,
  known: Known,
): Violation[] {
  const [olds, news] = [before, after].map((one) => read(one?.text ?? '{}'));
  if (!news) return [violationOf('compiler-loosened', { file, detail: 'it can no longer be read' })];
  if (!olds || (!after && rules !== manifest)) return [];
  const owner = olds.get('name') ?? news.get('name') ?? '';
  const at = { ...known, isOld: before !== null, package: owner, folder: path.posix.dirname(file) };
  return [...new Set([...olds.keys(), ...news.keys()])].flatMap((name) => {
    const [from, to] = [olds.get(name), news.get(name)];
    const isBroken = ([setting, , test]: SettingRule) =>
      setting.test(name) && test({ ...at, name, from, to });
    const [, rule] = (from === to ? undefined : rules.find(isBroken)) ?? [];
    const detail = name.replace(/^compilerOptions\./, '');
    const key = detail.split('.').at(-1) ?? detail;
    const line = (after?.text ?? '').split('\n').findIndex((one) => one.includes(key)) + 1 || null;
    return rule ? [violationOf(rule, { file, line, before: from ?? null, after: to ?? null, detail })] : [];
  });
}

/** Whether a script drops a program, ignores its failure, or changes its leniency options. */
function isForgiving({ from = '', to = '' }: Setting): boolean {
  const told = (command: string) => command.match(lenient)?.join() ?? '';
  return to !== '' && (told(to) !== told(from) || failing(from).some((one) => !failing(to).includes(one)));
}

/** Options that make a compiler or a linter check less, or more. */
const lenient =
  /--[\w-]*(?:warn|threshold|quiet|ignore|skip|severity|no-?verify|noEmitOnError|transpile|data-loss|unhandled-rejections)[\w-]*(?:[= ][\w-]+)?/gi;

/** Parses commands by name, which is their words without options. The value is the whole line, including the `@` and `-` of a Makefile. */
function commandsIn(text: string): Settings {
  const lines = text.replaceAll(/\\\n\s*/g, ' ').split('\n');
  return new Map(
    lines.flatMap((line) => {
      const told = line.replace(/^RUN\s+/, '').trim();
      const [plain = ''] = told.replace(/^[@-]+/, '').split(/\s*(?:[|;&]|$)/);
      const words = plain.split(/\s+/).filter((one) => !one.startsWith('-'));
      const name = words[0] === 'set' ? 'set' : words.join(' ');
      return /^(?:#|$)/.test(told) ? [] : [[name, told] as const];
    }),
  );
}

const severities = ['off', 'warn', 'error'];
/** Returns how strict a setting of a linter is: 0 is off, and -1 is no severity at all. */
function severity(value: string): number {
  const level = severities.indexOf(/^\W*(\w+)/.exec(value)?.[1] ?? '');
  return value === 'false' ? 0 : value === 'true' ? 2 : level;
}

const wordsOf = (list: string): string[] => list.match(/[\w:^./@*!-]+/g) ?? [];

/** Whether a tool is told to skip files of the project. Built and generated files are not among them. */
function leavesOut({ name, from = '', to = '', paths }: Setting): boolean {
  const isOut = /(?:^|\.)(?:ignores?|exclude|ignorePatterns)$/i.test(name);
  const added = wordsOf(to).filter((one) => !wordsOf(from).includes(one));
  return added.some((one) => (isOut || one.startsWith('!')) && holds(one.replace(/^!/, ''), paths));
}

/** Whether a pattern may match existing files, judging by its text before the first wildcard. */
export function holds(pattern: string, paths: ReadonlySet<string>): boolean {
  const start = pattern.replace(/^\.?\//, '').split(/[*?{]/)[0] ?? '';
  return start !== '' && [...paths].some((one) => one.startsWith(start));
}

/** Whether a package that tests import no longer comes from a registry. */
function comesFromElsewhere({ name, to = '', ...known }: Setting): boolean {
  const isElsewhere = /^(?:file|link|portal|npm|git|https?):|^[./]/.test(to);
  return isElsewhere && isImported(name.replace(/^\w+\./, ''), known);
}

/** Whether a package now comes from a folder that did not exist before. */
function leadsToNewFolder({ from, to = '', folder, paths }: Setting): boolean {
  const [, target] = /^(?:file|link|portal):(.+)$/.exec(to) ?? [];
  return from !== to && target !== undefined && !holds(`${path.posix.join(folder, target)}/`, paths);
}

/** Returns the programs whose failure fails the script. Those before `;`, `|`, `||` and `&` may fail unnoticed. */
function failing(command: string): string[] {
  if (command.startsWith('-')) return [];
  const parts = command.replace(/[;\s]+$/, '').split(/\|\|?|;|(?<!&)&(?!&)/);
  return (parts.at(-1) ?? '').split('&&').flatMap((one) => /^\s*(?:\w+=\S*\s+)*(\S+)/.exec(one)?.[1] ?? []);
}

/** Whether a script newly sets a variable like `MOCK` or `E2E`, and so starts a different app. */
function isPretending({ from = '', to = '' }: Setting): boolean {
  const sets = new RegExp(String.raw`\b${pretence}=(?!0|false|no|off|\s)`, 'i');
  return sets.test(to) && !sets.test(from);
}

/** Whether an alias that the tests import by now leads to another module. A new alias with a sign of its own (`@/*`) replaces no module. */
function leadsElsewhere({ name, from, imports }: Setting): boolean {
  const alias = name.replace('compilerOptions.paths.', '');
  const [start = '', end] = alias.split('*');
  const isUsed = [...imports].some((one) =>
    end === undefined ? one === alias : !one.startsWith('.') && one.startsWith(start) && one.endsWith(end),
  );
  return isUsed && (from !== undefined || !/^[@~#]/.test(alias));
}

/** Whether a package of the workspace that tests import now exports something else. An entry that led to a missing file may be fixed. */
function leadsImportersElsewhere(change: Setting): boolean {
  const { from, folder, paths } = change;
  const wasThere =
    from === undefined || !/^\.{0,2}\/?[\w.-]+\//.test(from) || paths.has(path.posix.join(folder, from));
  return isImported(change.package, change) && wasThere;
}

function isImported(name: string, { imports }: Known): boolean {
  return name !== '' && [...imports].some((one) => one === name || one.startsWith(`${name}/`));
}
