import path from 'node:path';
import { parse } from 'dotenv';
import type { Violation } from '../../core/guard/violation.js';
import { jsonSettings, type Settings } from '../../code/json-settings.js';
import type { Change } from '../change.js';
import { type FileEdit, isReverted } from '../edit.js';
import { type Rule, violationOf } from '../rules.js';

/** What is known of the tests, and the files of the project before the change. */
interface Known {
  readonly imports: ReadonlySet<string>;
  /** Variables of the environment that the tests read. */
  readonly variables: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

/** One setting that changed. */
interface Setting extends Known {
  readonly name: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The file was there before. */
  readonly isOld: boolean;
  /** The name of the package whose settings these are. */
  readonly package: string;
  readonly folder: string;
}

type Family = readonly [
  files: RegExp,
  read: (text: string) => Settings | null,
  rules: readonly SettingRule[],
];
type SettingRule = readonly [setting: RegExp, rule: Rule, isBroken: (setting: Setting) => boolean];

/** The name of a step that looks for faults. */
const checking =
  /(?:^|[\s"':/^])(?:type-?check|check|lint|tsc|eslint|biome|svelte-check|vue-tsc|audit)(?=$|[\s"':])/;

const isSet = ({ to }: Setting) => to !== undefined;
const isTurnedOn = ({ to = '' }: Setting) => !/^(?:|0|false|no|off|null)$/i.test(to);

/** Which settings of a compiler may not be loosened: what they check has to stay. */
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

/** The name of a variable that turns the app into another one than its users have. */
const pretence = String.raw`(?:\w+_)?(?:MOCKS?|MOCKED|FAKES?|STUBS?|MSW|E2E|PLAYWRIGHT|BYPASS)(?:_\w+)?`;

/** How tests are started, by which Playwright, and which packages they meet; other packages and scripts are an agent's to change. */
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

/** Settings by which the tests would meet another Playwright, or an app that only pretends. */
const environment: readonly SettingRule[] = [
  // What puts code into every program, or speaks to Playwright itself.
  [
    /^(?:NODE_OPTIONS|NODE_PATH|NODE_TLS_REJECT_UNAUTHORIZED|node-options|script-shell|yarnPath|(?:PLAYWRIGHT|PWTEST|PW)_\w+)$/,
    'environment-changed',
    isSet,
  ],
  [new RegExp(`^${pretence}$`, 'i'), 'environment-changed', isTurnedOn],
  [/./, 'security-loosened', ({ from = '', to = '' }) => superuser.test(to) && !superuser.test(from)],
  // A port is the server's as well, and follows it.
  [/./, 'environment-changed', ({ name, to = '', variables }) => variables.has(name) && !/^\d*$/.test(to)],
];

/** A connection as somebody whom no rule of the database holds for. */
const superuser = /:\/\/(?:root|postgres|sa|admin|super\w*)[:@]/;

/** A step of a build, of a start or of an image: it has to be able to fail, and what is checked stays checked. */
const commands: readonly SettingRule[] = [
  [/^set$/, 'compiler-loosened', ({ from = '', to = '' }) => /-\w*e/.test(from) && !/-\w*e/.test(to)],
  [/./, 'compiler-loosened', isForgiving],
  [checking, 'compiler-loosened', ({ to }) => to === undefined],
  [/./, 'environment-changed', isPretending],
];

/** Tools whose settings are JSON: what they check may not be switched off, and what they wait for stays. */
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

/** Which files hold settings, how they are read, and by which rules they are judged. */
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

/** Compares the settings of compilers, packages and environments (HN-3): the first rule that is for a setting, and broken, counts. */
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
  if (!news) return [violationOf('compiler-loosened', { file, detail: 'it cannot be read any more' })];
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

/** A script in which a program is left out, or can no longer make it fail, or is told to look away. */
function isForgiving({ from = '', to = '' }: Setting): boolean {
  const told = (command: string) => command.match(lenient)?.join() ?? '';
  return to !== '' && (told(to) !== told(from) || failing(from).some((one) => !failing(to).includes(one)));
}

/** Options by which a compiler or a linter checks less, or more. */
const lenient =
  /--[\w-]*(?:warn|threshold|quiet|ignore|skip|severity|no-?verify|noEmitOnError|transpile|data-loss|unhandled-rejections)[\w-]*(?:[= ][\w-]+)?/gi;

/** Commands by their first words; what stands before them in a Makefile or a Dockerfile belongs to them. */
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
/** How much a setting of a linter lets pass: 0 is all of it. */
function severity(value: string): number {
  const level = severities.indexOf(/^\W*(\w+)/.exec(value)?.[1] ?? '');
  return value === 'false' ? 0 : value === 'true' ? 2 : level;
}

const wordsOf = (list: string): string[] => list.match(/[\w:^./@*!-]+/g) ?? [];

/** A list of what a tool leaves out names what is there: what is built or generated is not. */
function leavesOut({ name, from = '', to = '', paths }: Setting): boolean {
  const isOut = /(?:^|\.)(?:ignores?|exclude|ignorePatterns)$/i.test(name);
  const added = wordsOf(to).filter((one) => !wordsOf(from).includes(one));
  return added.some((one) => (isOut || one.startsWith('!')) && holds(one.replace(/^!/, ''), paths));
}

/** Whether a pattern is for files that are there, by the folders that it names. */
export function holds(pattern: string, paths: ReadonlySet<string>): boolean {
  const start = pattern.replace(/^\.?\//, '').split(/[*?{]/)[0] ?? '';
  return start !== '' && [...paths].some((one) => one.startsWith(start));
}

/** A package that tests import does not come from a registry. */
function comesFromElsewhere({ name, to = '', ...known }: Setting): boolean {
  const isElsewhere = /^(?:file|link|portal|npm|git|https?):|^[./]/.test(to);
  return isElsewhere && isImported(name.replace(/^\w+\./, ''), known);
}

/** A package that came from a registry comes from a folder that is new. */
function leadsToNewFolder({ from, to = '', folder, paths }: Setting): boolean {
  const [, target] = /^(?:file|link|portal):(.+)$/.exec(to) ?? [];
  return from !== to && target !== undefined && !holds(`${path.posix.join(folder, target)}/`, paths);
}

/** The programs whose failure is the script's: what stands before `;`, `|`, `||` and `&` may fail. */
function failing(command: string): string[] {
  if (command.startsWith('-')) return [];
  const parts = command.replace(/[;\s]+$/, '').split(/\|\|?|;|(?<!&)&(?!&)/);
  return (parts.at(-1) ?? '').split('&&').flatMap((one) => /^\s*(?:\w+=\S*\s+)*(\S+)/.exec(one)?.[1] ?? []);
}

/** A script that sets such a variable: what it starts is another app. */
function isPretending({ from = '', to = '' }: Setting): boolean {
  const sets = new RegExp(String.raw`\b${pretence}=(?!0|false|no|off|\s)`, 'i');
  return sets.test(to) && !sets.test(from);
}

/** An alias leads the tests to another module where they import by it; a new one with a sign of its own (`@/*`) takes the place of none. */
function leadsElsewhere({ name, from, imports }: Setting): boolean {
  const alias = name.replace('compilerOptions.paths.', '');
  const [start = '', end] = alias.split('*');
  const isUsed = [...imports].some((one) =>
    end === undefined ? one === alias : !one.startsWith('.') && one.startsWith(start) && one.endsWith(end),
  );
  return isUsed && (from !== undefined || !/^[@~#]/.test(alias));
}

/** A package of the workspace that tests import gives out something else; one that gave out what is not there may be fixed. */
function leadsImportersElsewhere(change: Setting): boolean {
  const { from, folder, paths } = change;
  const wasThere =
    from === undefined || !/^\.{0,2}\/?[\w.-]+\//.test(from) || paths.has(path.posix.join(folder, from));
  return isImported(change.package, change) && wasThere;
}

function isImported(name: string, { imports }: Known): boolean {
  return name !== '' && [...imports].some((one) => one === name || one.startsWith(`${name}/`));
}
