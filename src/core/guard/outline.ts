/** A place in a test file with the text of its line. */
export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly source: string;
}

/** A locator as far as it matters: what it looks for, and whether it can miss. */
export interface LocatorText {
  /** Without the page it starts from, variables replaced by their values. */
  readonly code: string;
  /** Texts that a visitor sees or hears: `getByText`, the name of a role, `hasText`. */
  readonly texts: readonly string[];
  /** `body`, `html`, `*`, a pattern for any text: it matches any page. */
  readonly anything: boolean;
  /** How many alternatives `.or()` adds. */
  readonly alternatives: number;
}

/** What every step of a test has. */
interface StepBase extends Place {
  /** Conditions, loops and handlers that may keep it from running or from failing the test. */
  readonly guards: readonly string[];
  readonly awaited: boolean;
  readonly locators: readonly LocatorText[];
  readonly timeoutMs: number | null;
}

/** `expect(subject).not.matcher(expected, options)`; waits for a state are read as the assertion that they are. */
export interface AssertionStep extends StepBase {
  readonly kind: 'assertion';
  /** Locators stand as `‹locator›` in it. */
  readonly subject: string;
  readonly matcher: string;
  readonly negated: boolean;
  readonly soft: boolean;
  readonly polled: boolean;
  readonly expected: string;
  /** `key: value` of each option but the time-out. */
  readonly options: readonly string[];
}

/** Anything else that a test does to the page and waits for. */
export interface ActionStep extends StepBase {
  readonly kind: 'action';
  readonly verb: string;
  /** Receiver and arguments, without options that have fields of their own. */
  readonly data: string;
  readonly forced: boolean;
}

/** One thing that a test does. */
export type Step = AssertionStep | ActionStep;

/** A test with its hooks, a fixture, a global set-up: whatever Playwright calls, with the helpers that it calls read in. */
export interface Root extends Place {
  readonly kind: 'test' | 'fixture' | 'function';
  /** File and titles of a test; name of a fixture or function. */
  readonly key: string;
  readonly title: string;
  readonly steps: readonly Step[];
}

/** Something that is a weakening where it is new: `test.skip`, `page.route`, `expect.configure` … */
export interface Mark extends Place {
  readonly family: string;
  readonly text: string;
  /** For what may be lowered but not raised, in its own unit; `Infinity` for no limit. */
  readonly amount: number | null;
}

/** One setting of the Playwright config; `path` as in `use.actionTimeout`, projects by their names. */
export interface ConfigEntry extends Place {
  readonly path: string;
  readonly value: string;
  readonly amount: number | null;
}

/** All that the guard knows of a state of the tests. */
export interface SuiteOutline {
  readonly roots: readonly Root[];
  readonly marks: readonly Mark[];
  readonly config: readonly ConfigEntry[];
}
