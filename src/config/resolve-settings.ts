import { builtInRunners, isBuiltInRunner } from '../core/built-in-runner.js';
import type { ProjectRules } from '../core/classify/project-rules.js';
import type { AgentSettings, RunnerSettings, Settings } from '../core/settings.js';
import { defaultAgents, defaultRunner } from './agent-schema.js';
import { agentsFileSchema, type AgentsFile, type FilledAgentsFile } from './schema.js';

/** The sources of settings besides the defaults. */
export interface SettingsSources {
  readonly file: AgentsFile;
  /** The project's name if the file does not set it. */
  readonly project: string;
  /** The absolute path of the file, or null. */
  readonly filePath: string | null;
}

/** Fills in all defaults. Agents and runners are added to the built-in ones; a route replaces the built-in one. */
export function resolveSettings({ file: written, project, filePath }: SettingsSources): Settings {
  const builtIn = Object.fromEntries(defaultAgents.map((name) => [name, {}]));
  const file = agentsFileSchema.parse({ ...written, agents: { ...builtIn, ...written.agents } });
  const unnamed = Object.entries(file.agents).filter(([, { runner }]) => runner === undefined);
  const { max, backoff } = file.retries;
  const { time, ...limits } = file.limits;
  const { regressionTime, prepare = null, ...verify } = file.verify;
  const { enabled, time: timeMs } = file.blame;
  return {
    project: file.project ?? project,
    agents: resolveAgents(file),
    runners: resolveRunners(file),
    routes: file.routes,
    classify: resolveRules(file),
    retries: { max, backoff: { initialMs: backoff.initial, factor: backoff.factor, maxMs: backoff.max } },
    limits: { ...limits, timeMs: time },
    evidence: file.evidence,
    verify: atLevel({ ...verify, prepare, regressionTimeMs: regressionTime }),
    blame: { enabled, timeMs },
    store: file.store,
    fixer: file.fixer,
    runnerByDefault: file.runner === undefined ? unnamed.map(([name]) => name) : [],
    file: filePath,
  };
}

/** A level below `full` takes precedence over the individual numbers. */
function atLevel(verify: Settings['verify']): Settings['verify'] {
  if (verify.level === 'full') return verify;
  const less = { ...verify, repeat: 1, flips: 0 };
  return verify.level === 'quick' ? less : { ...less, regression: 'none' };
}

function resolveAgents(file: FilledAgentsFile): Record<string, AgentSettings> {
  const byDefault = file.runner ?? defaultRunner;
  const named = Object.entries(file.agents).map(([name, { slashCommand, runner = byDefault, timeout }]) => {
    const settings: AgentSettings = {
      name,
      slashCommand: slashCommand ?? `/${name}`,
      runner,
      timeoutMs: timeout,
    };
    return [name, settings] as const;
  });
  return Object.fromEntries(named);
}

function resolveRunners({ runners }: FilledAgentsFile): Record<string, RunnerSettings> {
  const own = Object.entries(runners).map(([name, { command = [], prompt, args, env }]) => {
    const settings: RunnerSettings = isBuiltInRunner(name)
      ? { kind: name, ...(args && { args }), ...(env && { env }) }
      : { kind: 'command', command, prompt };
    return [name, settings] as const;
  });
  const builtIn = builtInRunners.map((kind) => [kind, { kind }] as const);
  return Object.fromEntries<RunnerSettings>([...builtIn, ...own]);
}

function resolveRules({ classify }: FilledAgentsFile): ProjectRules {
  const rules = classify.rules.map(({ class: category, retry = null, ...rule }) => ({
    ...rule,
    category,
    retry,
  }));
  return { ...classify, rules };
}
