/** What a user selects, under Playwright's own names (CL-1). */
export interface Selection {
  readonly config?: string;
  readonly grep?: string;
  readonly project?: readonly string[];
  readonly shard?: string;
  readonly workers?: string | number;
  readonly repeatEach?: number;
  readonly retries?: number;
  readonly timeout?: number;
  readonly lastFailed?: boolean;
  /** `true` compares with the uncommitted changes alone. */
  readonly onlyChanged?: string | boolean;
  readonly x?: boolean;
  readonly maxFailures?: number;
  readonly headed?: boolean;
  /** Positional: regular expressions on the paths of test files. */
  readonly filters?: readonly string[];
  /** What stood behind `--`, unread. */
  readonly passThrough?: readonly string[];
}

/** A selection as Playwright's arguments, behind `playwright test`. */
export interface PlaywrightArgs {
  /** The selection as it is. */
  readonly first: readonly string[];
  /** The same tests again: without what looks at an earlier run, and without what stops early. */
  readonly whole: readonly string[];
  /** For a re-run by ids: what says how tests run, and nothing of what says which. */
  readonly byId: readonly string[];
}

/** Renders a selection for the first run and for re-runs. */
export function toPlaywrightArgs(selection: Selection): PlaywrightArgs {
  const { grep, shard, lastFailed, filters = [], passThrough = [] } = selection;
  const how = howTestsRun(selection);
  const which = [...optional('--grep', grep), ...optional('--shard', shard), ...changed(selection)];
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

/** The words that say which tests a selection is about, and nothing of its shard or of how long it goes on. */
export function selectionWords(selection: Selection): readonly string[] {
  const { config, grep, project, repeatEach, timeout, lastFailed, onlyChanged, filters, passThrough } =
    selection;
  const which = { config, grep, project, repeatEach, timeout, lastFailed, onlyChanged, filters, passThrough };
  const said = Object.entries(which).filter(([, value]) => value !== undefined);
  return toPlaywrightArgs(Object.fromEntries(said) as Selection).first;
}

/** The project stays in a re-run: ids of other projects do not occur. So does the repetition, which ids depend on. */
function howTestsRun({ config, project, workers, repeatEach, timeout, headed }: Selection): string[] {
  return [
    ...optional('--config', config),
    // One word each: `--project NAME` takes the positional filter behind it for a second name.
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
