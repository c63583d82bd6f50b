import path from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { agentsInUse, checkAgent } from '../agents/check-agents.js';
import { programNamed, programs } from '../agents/programs.js';
import { builtIn, isBuiltInRunner, type BuiltInRunner } from '../core/built-in.js';
import type { AgentSettings, RunnerSettings, Settings } from '../core/settings.js';
import { readReport, runIdsIn } from '../run/find-run.js';
import { runDirOf } from '../run/run-folder.js';
import { findProgram } from '../process/find-program.js';
import { failed, warning, passed, type Check, probe, type ProbePlace } from './check.js';
import { tryOr } from '../result.js';

/** Checks the program of every routed agent, and the agents' slash commands. Each program is checked once. */
export async function checkRoutes(settings: Settings, place: ProbePlace): Promise<Check[]> {
  const routed = agentsInUse(settings).flatMap((name) => settings.agents[name] ?? []);
  const byRunner = new Map<string, AgentSettings[]>();
  for (const agent of routed) byRunner.set(agent.runner, [...(byRunner.get(agent.runner) ?? []), agent]);
  const checks = await Promise.all(
    Array.from(byRunner, async ([name, agents]) => {
      const runner = settings.runners[name];
      if (name === builtIn) return [fixerAlone];
      return runner ? checkRunner({ name, runner, agents, settings }, place) : [];
    }),
  );
  return [...checks.flat(), ...checkReviewer(settings)];
}

/** Whether whoever gives the second opinion (HN-11) is the program whose fixes it judges. */
export function checkReviewer({ routes, verify, agents, runners }: Settings): Check[] {
  const programOf = (agent: string | null) => {
    const runner = runners[agents[agent ?? '']?.runner ?? ''];
    return runner?.kind === 'command' ? runner.command.join(' ') : runner?.kind;
  };
  const reviewer = programOf(verify.review);
  const isOwn = Object.values(routes)
    .flat()
    .some((agent) => programOf(agent) === reviewer);
  return reviewer === undefined || !isOwn
    ? []
    : [
        warning(
          'second opinion',
          `${reviewer} would judge its own fixes`,
          `Give ${verify.review} another runner.`,
        ),
      ];
}

const fixerAlone = warning(
  builtIn,
  'no agent program is set up: the built-in fixer makes only the fixes it is sure of; other failures are reported with a prompt to paste',
  'After installing an agent program, run `npx self-heal init --agent claude`.',
);

interface Routed {
  readonly name: string;
  readonly runner: RunnerSettings;
  readonly agents: readonly AgentSettings[];
  readonly settings: Settings;
}

async function checkRunner(routed: Routed, place: ProbePlace): Promise<Check[]> {
  const { name, runner } = routed;
  const file = runner.kind === 'command' ? (runner.command[0] ?? '') : runner.kind;
  const found = await findProgram(file, place);
  if (found === null) return [failed(name, `the program ${file} was not found`, installHint(file))];
  if (runner.kind === 'command' || !isBuiltInRunner(runner.kind)) {
    return [passed(name, found), ...(await checkCommands(routed, place))];
  }
  const [version, login, away, commands] = await Promise.all([
    checkVersion(runner.kind, place),
    loginOf(runner.kind, place),
    unusableLastTime(name, place),
    checkCommands(routed, place),
  ]);
  return [version, login, ...away, ...commands];
}

/** How many runs are read to find the last one in which a program was started. */
const RUNS_READ = 20;

/** Whether the last agent of this program in a run here could not work: until one works again, only a run can show that it would. */
async function unusableLastTime(name: string, { cwd }: ProbePlace): Promise<Check[]> {
  const ids = await runIdsIn(cwd);
  for (const id of ids.slice(-RUNS_READ).toReversed()) {
    const report = await readReport(runDirOf(cwd, id)).catch(() => null);
    const attempts = report?.causes.flatMap((cause) => cause.attempts) ?? [];
    const last = attempts.findLast(({ runner, exit }) => runner === name && exit !== 'aborted');
    if (last?.end.kind === 'unusable')
      return [
        warning(`${name} last time`, `could not work in run ${id}: ${last.end.because}`, last.end.remedy),
      ];
    if (last) return [];
  }
  return [];
}

function installHint(file: string): string {
  const program = programNamed(file);
  return program
    ? `Run \`npm install -g ${program.packageName}\`, or name another runner in agents.yaml.`
    : 'Install it, or correct its command in agents.yaml.';
}

async function checkVersion(program: BuiltInRunner, place: ProbePlace): Promise<Check> {
  const { exitCode, output } = await probe([program, '--version'], place);
  const { tested } = programs[program];
  const version = /\d+\.\d+[\w.-]*/.exec(output)?.[0];
  return exitCode === 0 && version !== undefined
    ? passed(program, version === tested ? `${version}, as tested` : `${version}; tested with ${tested}`)
    : failed(
        program,
        'installed, but `--version` fails',
        `Run \`${program} --version\` to see why, or reinstall it.`,
      );
}

async function loginOf(program: BuiltInRunner, place: ProbePlace): Promise<Check> {
  const name = `${program} login`;
  const login = await checkLogin(program, place);
  const { login: remedy } = programs[program];
  switch (login.state) {
    case 'in':
      return passed(name, login.how);
    case 'out':
      return failed(name, 'not logged in', remedy);
    case 'unknown':
      return warning(name, `unknown: ${login.why}`, remedy);
    default:
      return login satisfies never;
  }
}

/** Runs the same check as a run does at its start, for each agent separately, so that every missing command is reported. */
async function checkCommands({ name, agents, settings }: Routed, { cwd }: ProbePlace): Promise<Check[]> {
  const problems = await Promise.all(
    agents.map(async (agent) => ({ agent, problem: await checkAgent(settings, agent.name, cwd) })),
  );
  const about = `${name} commands`;
  const fine = problems.filter(({ problem }) => problem === null).map(({ agent }) => agent.slashCommand);
  const missing = problems.flatMap(({ problem }) =>
    problem ? [failed(about, problem.message, problem.remedy)] : [],
  );
  return fine.length === 0 ? missing : [passed(about, fine.join(', ')), ...missing];
}

/** Whether a program has the credentials to call its model. */
type Login =
  | { readonly state: 'in'; readonly how: string }
  | { readonly state: 'out' }
  /** The program offers no way to tell without a paid call. */
  | { readonly state: 'unknown'; readonly why: string };

/** Asks a program whether it is logged in, without calling its model. The versions below are those it was tested with. */
export async function checkLogin(program: BuiltInRunner, place: ProbePlace): Promise<Login> {
  return logins[program](place);
}

const logins: Record<BuiltInRunner, (place: ProbePlace) => Promise<Login>> = {
  claude,
  codex,
  gemini,
  opencode,
  copilot,
};

/** 2.1.197: `auth status` prints JSON. An older version would take the words for a prompt, so its help is read first. */
async function claude(place: ProbePlace): Promise<Login> {
  const help = await probe(['claude', '--help'], place);
  const status = /^\s+auth\b/m.test(help.output) ? await probe(['claude', 'auth', 'status'], place) : null;
  const loggedIn = /"loggedIn":\s*(true|false)/.exec(status?.output ?? '')?.[1];
  if (loggedIn === 'false') return { state: 'out' };
  const how = /"authMethod":\s*"([\w-]+)"/.exec(status?.output ?? '')?.[1] ?? 'an account';
  return loggedIn === 'true' ? { state: 'in', how } : { state: 'unknown', why: 'this version does not say' };
}

/**
 * 0.169.0: `login status` exits with 1 if not logged in. It ignores CODEX_API_KEY, which `codex exec` accepts, and custom providers.
 * OPENAI_API_KEY is not accepted.
 */
async function codex(place: ProbePlace): Promise<Login> {
  if (isSet(place, 'CODEX_API_KEY')) return { state: 'in', how: 'CODEX_API_KEY' };
  const { exitCode, output } = await probe(['codex', 'login', 'status'], place);
  if (exitCode === 0) return { state: 'in', how: /API key/i.test(output) ? 'an API key' : 'an account' };
  const config = readOrEmpty(
    path.join(place.env['CODEX_HOME'] ?? path.join(homeOf(place), '.codex'), 'config.toml'),
  );
  if (/^\s*model_provider\s*=/m.test(config)) {
    return { state: 'unknown', why: 'its config.toml names a custom provider' };
  }
  return /Not logged in/i.test(output)
    ? { state: 'out' }
    : { state: 'unknown', why: 'this version does not say' };
}

/** There is no command for this, so we look for the credentials that it would use. */
async function gemini(place: ProbePlace): Promise<Login> {
  const variable = [
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_GENAI_USE_GCA',
  ].find((name) => isSet(place, name));
  if (variable !== undefined) return { state: 'in', how: variable };
  const home = path.join(homeOf(place), '.gemini');
  if (existsSync(path.join(home, 'oauth_creds.json'))) return { state: 'in', how: 'a stored login' };
  const chosen = /"(?:selectedType|selectedAuthType)"/.test(readOrEmpty(path.join(home, 'settings.json')));
  const dotEnv = [home, path.join(place.cwd, '.gemini'), place.cwd].some((folder) =>
    existsSync(path.join(folder, '.env')),
  );
  if (chosen || dotEnv) return { state: 'unknown', why: 'only a model call would show it' };
  return { state: 'out' };
}

/** 1.18.33: `auth list` counts stored logins and variables. Without either, local and free models still work. */
async function opencode(place: ProbePlace): Promise<Login> {
  const { output } = await probe(['opencode', 'auth', 'list'], place);
  const counts = [...output.matchAll(/(\d+) (?:credentials?|environment variables?)/g)].map(([, count]) =>
    Number(count),
  );
  if (counts.some((count) => count > 0)) return { state: 'in', how: 'a stored login or a key' };
  const why = 'neither a login nor a key; only models that need neither will work';
  return { state: 'unknown', why };
}

/** There is no command for this, and the login may be in the system's keychain. */
async function copilot(place: ProbePlace): Promise<Login> {
  const names = ['COPILOT_PROVIDER_BASE_URL', 'COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'];
  const variable = names.find((name) => isSet(place, name));
  if (variable !== undefined) return { state: 'in', how: variable };
  return { state: 'unknown', why: 'only a model call would show it' };
}

function isSet({ env }: ProbePlace, name: string): boolean {
  return (env[name] ?? '') !== '';
}

function homeOf({ env }: ProbePlace): string {
  return env['HOME'] ?? env['USERPROFILE'] ?? homedir();
}

function readOrEmpty(file: string): string {
  return tryOr('', () => readFileSync(file, 'utf8'));
}
