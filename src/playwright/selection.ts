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
  /** A ref to compare with; `true` for uncommitted changes only. */
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
  /** For a re-run of the same tests: without retries, `--last-failed`, and limits that stop the run early. */
  readonly rerun: readonly string[];
  /** For a re-run by ids: only the arguments that control how tests run, not which. */
  readonly byId: readonly string[];
}

type Option = Exclude<keyof Selection, 'filters' | 'passThrough'>;

/** A re-run by ids has `--project` and `--repeat-each`, because ids depend on them. */
const runConditions: readonly Option[] = ['config', 'project', 'workers', 'repeatEach', 'timeout', 'headed'];
const testFilters: readonly Option[] = ['grep', 'grepInvert', 'shard', 'onlyChanged'];
const runLimits: readonly Option[] = ['retries', 'maxFailures', 'x', 'lastFailed'];
/** The options of a single run, which do not determine the tests of a selection. */
const runOptions: readonly Option[] = ['shard', 'workers', 'headed', 'retries', 'maxFailures', 'x'];

/** Converts a selection to arguments for the first run and for re-runs. */
export function toPlaywrightArgs(selection: Selection): PlaywrightArgs {
  const { filters = [], passThrough = [] } = selection;
  const conditionArgs = toArguments(runConditions, selection);
  const selectionArgs = [...conditionArgs, ...toArguments(testFilters, selection)];
  return {
    first: [...selectionArgs, ...toArguments(runLimits, selection), ...filters, ...passThrough],
    rerun: [...selectionArgs, ...filters, ...passThrough],
    byId: [...conditionArgs, ...passThrough],
  };
}

/** Returns the arguments that determine the tests of a selection, without the shard and limits on the run. */
export function listSelectionArguments(selection: Selection): readonly string[] {
  const { filters = [], passThrough = [] } = selection;
  const options = [...runConditions, ...testFilters, ...runLimits].filter(
    (option) => !runOptions.includes(option),
  );
  return [...toArguments(options, selection), ...filters, ...passThrough];
}

/** True if a selection excludes some of the config's tests. */
export function isNarrowed(selection: Selection): boolean {
  const { filters = [], passThrough = [] } = selection;
  return (
    [...toArguments([...testFilters, 'project', 'lastFailed'], selection), ...filters, ...passThrough]
      .length > 0
  );
}

/** Joins flag and value with `=`: `--project NAME` would take a following filter as a second name. */
function toArguments(options: readonly Option[], selection: Selection): string[] {
  return options.flatMap((option) => {
    const flag = option === 'x' ? '-x' : `--${option.replace(/[A-Z]/g, '-$&').toLowerCase()}`;
    const values = [selection[option] ?? []].flat();
    return values.flatMap((value) => (value === false ? [] : value === true ? flag : `${flag}=${value}`));
  });
}
