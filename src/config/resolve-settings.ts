import { builtInRunners, isBuiltInRunner } from '../core/built-in-runner.js';
import { categories, type Category } from '../core/diagnosis.js';
import { anywhere } from '../core/classify/rule.js';
import { noProjectRules, type ProjectRules } from '../core/classify/project-rules.js';
import type { AgentSettings, RunnerSettings, Settings } from '../core/settings.js';
import { defaultAgents, defaults } from './defaults.js';
import type { AgentsFile } from './schema.js';

/** The sources of settings besides the defaults. */
export interface SettingsSources {
  readonly file: AgentsFile;
  /** The project's name if the file does not set it. */
  readonly project: string;
  /** The absolute path of the file, or null. */
  readonly filePath: string | null;
}

/** Fills in all defaults. Agents and runners are added to the built-in ones; a route replaces the built-in one. */
export function resolveSettings({ file, project, filePath }: SettingsSources): Settings {
  const isUnnamed = (name: string) => file.agents?.[name]?.runner === undefined;
  const { retries, limits, evidence, verify, blame } = file;
  const { time, ...counts } = limits ?? {};
  const { regressionTime, ...checks } = verify ?? {};
  return {
    project: file.project ?? project,
    agents: resolveAgents(file),
    runners: resolveRunners(file),
    routes: resolveRoutes(file),
    classify: resolveRules(file),
    retries: {
      max: retries?.max ?? defaults.retries.max,
      backoff: {
        initialMs: retries?.backoff?.initial ?? defaults.retries.backoff.initialMs,
        factor: retries?.backoff?.factor ?? defaults.retries.backoff.factor,
        maxMs: retries?.backoff?.max ?? defaults.retries.backoff.maxMs,
      },
    },
    limits: { ...defaults.limits, ...given(counts), ...given({ timeMs: time }) },
    evidence: { ...defaults.evidence, ...given(evidence ?? {}) },
    verify: atLevel({ ...defaults.verify, ...given(checks), ...given({ regressionTimeMs: regressionTime }) }),
    blame: {
      ...defaults.blame,
      ...given({ enabled: blame?.enabled, runs: blame?.runs, timeMs: blame?.time }),
    },
    store: file.store ?? defaults.store,
    queue: { leaseMs: file.queue?.lease ?? defaults.queue.leaseMs },
    fixer: file.fixer ?? defaults.fixer,
    runnerByDefault: file.runner === undefined ? agentNames(file).filter(isUnnamed) : [],
    file: filePath,
  };
}

/** A level below `full` takes precedence over the individual numbers. */
function atLevel(verify: Settings['verify']): Settings['verify'] {
  if (verify.level === 'full') return verify;
  const less = { ...verify, repeat: 1, flips: 0 };
  return verify.level === 'quick' ? less : { ...less, regression: 'none' };
}

function agentNames(file: AgentsFile): string[] {
  return [...new Set([...defaultAgents, ...Object.keys(file.agents ?? {})])];
}

function resolveAgents(file: AgentsFile): Record<string, AgentSettings> {
  return Object.fromEntries(
    agentNames(file).map((name) => {
      const agent = file.agents?.[name];
      const settings: AgentSettings = {
        name,
        slashCommand: agent?.slashCommand ?? `/${name}`,
        runner: agent?.runner ?? file.runner ?? defaults.runner,
        timeoutMs: agent?.timeout ?? defaults.timeoutMs,
      };
      return [name, settings];
    }),
  );
}

function resolveRunners(file: AgentsFile): Record<string, RunnerSettings> {
  const named = Object.entries(file.runners ?? {});
  const own = named.map(([name, { command = [], prompt = 'stdin', args, env }]) => {
    const settings: RunnerSettings = isBuiltInRunner(name)
      ? { kind: name, ...given({ args, env }) }
      : { kind: 'command', command, prompt };
    return [name, settings] as const;
  });
  const builtIn = builtInRunners.map((kind) => [kind, { kind }] as const);
  return Object.fromEntries<RunnerSettings>([...builtIn, ...own]);
}

function resolveRoutes(file: AgentsFile): Record<Category, readonly string[]> {
  const routes = categories.map(
    (category) => [category, file.routes?.[category] ?? defaults.routes[category]] as const,
  );
  return Object.fromEntries(routes) as Record<Category, readonly string[]>;
}

function resolveRules({ classify }: AgentsFile): ProjectRules {
  const rules = (classify?.rules ?? []).map(({ id, class: category, pattern, sources, retry }) => ({
    id,
    category,
    pattern,
    sources: sources ?? anywhere,
    retry: retry ?? null,
  }));
  return { ...noProjectRules, ...given({ ignore: classify?.ignore, off: classify?.off }), rules };
}

/** Drops keys whose value is undefined, which would overwrite defaults. */
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
