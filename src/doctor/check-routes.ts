import { checkAgent } from '../agents/check-agents.js';
import { programNamed, programs } from '../agents/programs.js';
import { builtIn } from '../core/built-in-fixer.js';
import { isBuiltInRunner, type BuiltInRunner } from '../core/built-in-runner.js';
import type { AgentSettings, RunnerSettings, Settings } from '../core/settings.js';
import { findProgram } from '../process/find-program.js';
import { bad, doubtful, good, type Check } from './check.js';
import { checkLogin } from './check-login.js';
import { probe, type ProbePlace } from './probe.js';

/** Checks the program of every routed agent, and the agents' slash commands. Each program is checked once. */
export async function checkRoutes(settings: Settings, place: ProbePlace): Promise<Check[]> {
  const routed = [...new Set(Object.values(settings.routes).flat())].flatMap(
    (name) => settings.agents[name] ?? [],
  );
  const byRunner = new Map<string, AgentSettings[]>();
  for (const agent of routed) byRunner.set(agent.runner, [...(byRunner.get(agent.runner) ?? []), agent]);
  const checks = await Promise.all(
    Array.from(byRunner, async ([name, agents]) => {
      const runner = settings.runners[name];
      if (name === builtIn) return [fixerAlone];
      return runner ? checkRunner({ name, runner, agents, settings }, place) : [];
    }),
  );
  return checks.flat();
}

const fixerAlone = doubtful(
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
  if (found === null) return [bad(name, `the program ${file} was not found`, installHint(file))];
  if (runner.kind === 'command' || !isBuiltInRunner(runner.kind)) {
    return [good(name, found), ...(await checkCommands(routed, place))];
  }
  const [version, login, commands] = await Promise.all([
    checkVersion(runner.kind, place),
    loginOf(runner.kind, place),
    checkCommands(routed, place),
  ]);
  return [version, login, ...commands];
}

function installHint(file: string): string {
  const program = programNamed(file);
  return program
    ? `Run \`npm install -g ${program.packageName}\`, or name another runner in agents.yaml.`
    : 'Install it, or correct its command in agents.yaml.';
}

async function checkVersion(program: BuiltInRunner, place: ProbePlace): Promise<Check> {
  const { exitCode, output } = await probe([program, '--version'], place);
  const version = /\d+\.\d+[\w.-]*/.exec(output)?.[0];
  return exitCode === 0 && version !== undefined
    ? good(program, version)
    : bad(
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
      return good(name, login.how);
    case 'out':
      return bad(name, 'not logged in', remedy);
    case 'unknown':
      return doubtful(name, `unknown: ${login.why}`, remedy);
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
    problem ? [bad(about, problem.message, problem.remedy)] : [],
  );
  return fine.length === 0 ? missing : [good(about, fine.join(', ')), ...missing];
}
