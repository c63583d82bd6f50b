/** The user's selection, under Playwright's own option names (CL-1). */
export interface Selection {
  readonly config?: string;
  readonly grep?: string;
  readonly grepInvert?: string;
  readonly project?: readonly string[];
  readonly shard?: string;
  readonly workers?: string | number;
  readonly repeatEach?: number;
  readonly retries?: number;
  readonly timeout?: number;
  readonly lastFailed?: boolean;
  /** A ref to compare with; `true` considers only uncommitted changes. */
  readonly onlyChanged?: string | boolean;
  readonly x?: boolean;
  readonly maxFailures?: number;
  readonly headed?: boolean;
  /** Positional arguments: regular expressions for the paths of test files. */
  readonly filters?: readonly string[];
  /** The arguments after `--`, passed on as they are. */
  readonly passThrough?: readonly string[];
}

/** A selection as arguments for `playwright test`. */
export interface PlaywrightArgs {
  /** The selection as the user gave it. */
  readonly first: readonly string[];
  /** For running the same tests again: without retries, `--last-failed`, and limits that stop the run early. */
  readonly whole: readonly string[];
  /** For a re-run by ids: only the arguments that say how tests run, not which. */
  readonly byId: readonly string[];
}

/** Converts a selection to arguments for the first run and for re-runs. */
export function toPlaywrightArgs(selection: Selection): PlaywrightArgs {
  const { grep, grepInvert, shard, lastFailed, filters = [], passThrough = [] } = selection;
  const how = howTestsRun(selection);
  const which = [
    ...optional('--grep', grep),
    ...optional('--grep-invert', grepInvert),
    ...optional('--shard', shard),
    ...changed(selection),
  ];
  const early = [
    ...optional('--retries', selection.retries),
    ...optional('--max-failures', selection.maxFailures),
    ...(selection.x ? ['-x'] : []),
    ...(lastFailed ? ['--last-failed'] : []),
  ];
  return {
    first: [...how, ...which, ...early, ...filters, ...passThrough],
    whole: [...how, ...which, ...filters, ...passThrough],
    byId: [...how, ...passThrough],
  };
}

/** Returns the arguments that determine which tests a selection covers, without the shard and limits on the run. */
export function selectionWords(selection: Selection): readonly string[] {
  const { config, grep, grepInvert, project, repeatEach, timeout } = selection;
  const { lastFailed, onlyChanged, filters, passThrough } = selection;
  const tests = { config, grep, grepInvert, project, repeatEach, timeout };
  const which = { ...tests, lastFailed, onlyChanged, filters, passThrough };
  const said = Object.entries(which).filter(([, value]) => value !== undefined);
  return toPlaywrightArgs(Object.fromEntries(said) as Selection).first;
}

/** A re-run keeps `--project`, since its ids belong to these projects, and `--repeat-each`, which ids depend on. */
function howTestsRun({ config, project, workers, repeatEach, timeout, headed }: Selection): string[] {
  return [
    ...optional('--config', config),
    // One argument each: `--project NAME` would take a positional filter after it as a second name.
    ...(project ?? []).map((name) => `--project=${name}`),
    ...optional('--workers', workers),
    ...optional('--repeat-each', repeatEach),
    ...optional('--timeout', timeout),
    ...(headed ? ['--headed'] : []),
  ];
}

function changed({ onlyChanged }: Selection): string[] {
  if (typeof onlyChanged === 'string') return [`--only-changed=${onlyChanged}`];
  return onlyChanged ? ['--only-changed'] : [];
}

function optional(flag: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`${flag}=${value}`];
}
