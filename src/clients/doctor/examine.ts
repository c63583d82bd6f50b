import path from 'node:path';
import {
  listAgentsInUse,
  getExecutable,
  findMissingAgents,
  listDistinctProblems,
  chooseReviewers,
  dropMissingRunner,
} from '../../agents/check-agents.js';
import { chooseRemedy } from '../../agents/agent-error.js';
import { loadSettings } from '../../config/load-settings.js';
import { builtIn } from '../../model/built-in.js';
import type { Settings } from '../../model/settings.js';
import { stripAnsi } from '../../visible-text.js';
import { findPlaywrightConfig } from '../../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../../playwright/find-playwright.js';
import { findFirstRunProblem } from '../../playwright/refusals.js';
import { listSuite } from '../../playwright/run-suite.js';
import { findProgram } from '../../process/find-program.js';
import type { Problem } from '../../problem.js';
import { findStateProblem } from '../../state-folder.js';
import { checkLogin } from './logins.js';

/** One line of `self-heal doctor` (CL-11). */
export interface DoctorCheck {
  /** The subject: `playwright`, `agents.yaml`, `claude login`. */
  readonly name: string;
  /** `warning`: a run works without it, or the state is unknown; `failed`: a run would not work. */
  readonly state: 'ok' | 'warning' | 'failed';
  readonly found: string;
  /** Null if `state` is ok. */
  readonly remedy: string | null;
}

function createPassedCheck(name: string, message: string): DoctorCheck {
  return { name, state: 'ok', found: message, remedy: null };
}

function createFailedCheck(name: string, { message, detail, remedy }: Problem): DoctorCheck {
  const text = detail === undefined ? message : `${message}\n\n${detail}\n`;
  return { name, state: 'failed', found: text, remedy };
}

interface ExamineRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The value of `-c`. */
  readonly config?: string | undefined;
  /** The value of `--agents`. */
  readonly agents?: string | undefined;
}

/** Checks everything that a run checks before its first test, and collects the problems (CL-11). Changes nothing and calls no model. */
export async function examineProject({
  cwd,
  env,
  config: flag,
  agents,
}: ExamineRequest): Promise<DoctorCheck[]> {
  const state = await findStateProblem(cwd);
  const config = findPlaywrightConfig(cwd, flag);
  const playwright = findPlaywright(cwd, config.ok ? config.value : undefined);
  const settings = await loadSettings({ cwd, env, file: agents });
  const canList = playwright.ok && config.ok && settings.ok;
  return [
    state ? createFailedCheck('.self-heal', state) : createPassedCheck('.self-heal', 'usable'),
    playwright.ok
      ? createPassedCheck('playwright', playwright.value.version)
      : createFailedCheck('playwright', playwright.error),
    config.ok
      ? createPassedCheck('playwright config', path.relative(cwd, config.value))
      : createFailedCheck('playwright config', config.error),
    ...(canList
      ? [await checkSuite({ cwd, env, playwright: playwright.value, config: config.value }, settings.value)]
      : []),
    ...(settings.ok
      ? [
          createPassedCheck(
            'agents.yaml',
            settings.value.file ? path.relative(cwd, settings.value.file) : 'no file; the defaults apply',
          ),
          ...(await checkAgents(await dropMissingRunner(settings.value, cwd), { cwd, env })),
        ]
      : [createFailedCheck('agents.yaml', settings.error)]),
  ];
}

interface Suite extends Pick<ExamineRequest, 'cwd' | 'env'> {
  readonly playwright: Playwright;
  /** Absolute. */
  readonly config: string;
}

/** Lists the tests, which starts neither tests nor web servers. */
async function checkSuite({ config, ...project }: Suite, { verify }: Settings): Promise<DoctorCheck> {
  const run = await listSuite({ ...project, args: ['-c', config] });
  const problem = findFirstRunProblem(run, { isNarrowed: false, prepare: verify.prepare });
  if (problem) return createFailedCheck('tests', problem);
  const [error] = run.suiteFailure?.errors ?? [];
  if (error === undefined) return createPassedCheck('tests', `${run.tests.length} found`);
  const [line = ''] = stripAnsi(error.message).trim().split('\n');
  const remedy = 'A run hands it to an agent. `playwright test --list` shows the full output.';
  return { name: 'tests', state: 'warning', found: `the suite cannot start: ${line}`, remedy };
}

/** Checks the agents in use, and whether their programs are logged in. */
async function checkAgents(
  settings: Settings,
  project: Pick<ExamineRequest, 'cwd' | 'env'>,
): Promise<DoctorCheck[]> {
  const missing = await findMissingAgents(settings, project.cwd);
  const used = listAgentsInUse(settings).flatMap((name) => settings.agents[name] ?? []);
  const runners = [...new Set(used.map(({ runner }) => runner))];
  const ready = used.filter(({ name, runner }) => !missing.has(name) && runner !== builtIn);
  const logins = runners.map(async (name) => {
    const runner = settings.runners[name];
    if (!runner || runner.kind === 'command' || !(await findProgram(getExecutable(runner), project)))
      return [];
    return [await describeLogin(name, runner, project)];
  });
  return [
    ...(runners.includes(builtIn) ? [noProgramCheck] : []),
    ...(ready.length > 0
      ? [
          createPassedCheck(
            'agents',
            ready.map(({ slashCommand, runner }) => `${slashCommand} (${runner})`).join(', '),
          ),
        ]
      : []),
    ...listDistinctProblems(missing).map((problem) => createFailedCheck('agents', problem)),
    ...(await Promise.all(logins)).flat(),
    ...(await checkReviewers(settings, { authors: runners, cwd: project.cwd })),
  ];
}

/** Checks that another agent can review each program's fixes (HN-11). */
async function checkReviewers(
  settings: Settings,
  { authors, cwd }: { readonly authors: readonly string[]; readonly cwd: string },
): Promise<DoctorCheck[]> {
  if (settings.verify.review === 'off')
    return [createPassedCheck('reviewer', 'nobody reviews fixes: verify.review is off')];
  const checks = authors.map(async (author): Promise<DoctorCheck[]> => {
    if (author === builtIn) return [];
    const programs = await chooseReviewers(settings, { author, cwd });
    if (typeof programs === 'string')
      return [createPassedCheck('reviewer', `fixes are not reviewed: ${programs}`)];
    const [first] = programs;
    if (first !== undefined) return [createPassedCheck('reviewer', `${first} reviews what ${author} fixes`)];
    const found = `no agent can review fixes by ${author}, so a person must review each fix to the app`;
    return [{ name: 'reviewer', state: 'warning', found, remedy: 'Run npx self-heal init.' }];
  });
  return (await Promise.all(checks)).flat();
}

const noProgramCheck: DoctorCheck = {
  name: builtIn,
  state: 'warning',
  found:
    'no agent program is set up: the built-in fixer makes only the fixes it is sure of; other failures are reported with a prompt to paste',
  remedy: 'After installing an agent program, run `npx self-heal init --agent claude --force`.',
};

async function describeLogin(
  runner: string,
  settings: Parameters<typeof checkLogin>[0],
  project: Pick<ExamineRequest, 'cwd' | 'env'>,
): Promise<DoctorCheck> {
  const name = `${runner} login`;
  const login = await checkLogin(settings, project);
  if (login.state === 'in') return createPassedCheck(name, login.how);
  const remedy = (login.state === 'out' ? login.remedy : undefined) ?? chooseRemedy('unauthorized', runner);
  return login.state === 'out'
    ? { name, state: 'failed', found: 'not logged in', remedy }
    : { name, state: 'warning', found: `unknown: ${login.why}`, remedy };
}
