import type { LocatorText } from '../../code/locator.js';
import type { Place } from '../../code/source-file.js';
import type { Rule } from '../rules.js';

/** The fields that every step of a test has. */
interface StepBase extends Place {
  /** Conditions, loops and handlers that may keep it from running or from failing the test. */
  readonly guards: readonly string[];
  readonly awaited: boolean;
  readonly locators: readonly LocatorText[];
  /** In milliseconds; null if none is set, `Infinity` for no limit. */
  readonly timeoutMs: number | null;
}

/** `expect(subject).not.matcher(expected, options)`. A wait for a state is read as an assertion of it. */
export interface AssertionStep extends StepBase {
  readonly kind: 'assertion';
  /** Contains `‹locator›` for each locator. */
  readonly subject: string;
  readonly matcher: string;
  readonly negated: boolean;
  readonly soft: boolean;
  readonly polled: boolean;
  readonly expected: string;
  /** `key: value` for each property of the object that `toMatchObject` expects. */
  readonly parts?: readonly string[];
  /** `key: value` for each option without a field of its own that changes what is checked. */
  readonly options: readonly string[];
  /** Where its `expect` comes from: `playwright`, or the code that replaced it. */
  readonly origin: string;
}

/** Anything else that a test does. */
export interface ActionStep extends StepBase {
  /**
   * An `action` may be neither added nor removed. A `wait` or a `check` (a thrown error) may be added but not removed. A `limit` or a
   * `restriction` may be removed, and a limit lowered.
   */
  readonly kind: 'action' | 'wait' | 'check' | 'limit' | 'restriction';
  readonly verb: string;
  /** Receiver and arguments, without options that have fields of their own. */
  readonly data: string;
  readonly forced: boolean;
  /** The text that it types into the page. */
  readonly types?: string;
  /** The rule that adding it breaks. */
  readonly rule: Rule;
}

/** The place of a step, and what may keep it from running or from failing the test. */
type Placed = keyof Place | 'guards' | 'awaited';
/** The fields of an assertion that its own expression determines. */
export type BareAssertion = Omit<AssertionStep, Placed>;
/** The fields of an action that its own call determines. */
export type BareAction = Omit<ActionStep, Placed>;

/** One thing that a test does. */
export type Step = AssertionStep | ActionStep;

/** What the hooks of a describe block or a module do. Hooks that are declared after a test run for it, too. */
export interface Hooks {
  readonly around: Hooks | null;
  readonly before: Step[];
  readonly after: Step[];
}

/** Code that is run, including the helpers that it calls: a test, a fixture, a function, or the statements of a describe block or a module. */
export interface Root extends Place {
  readonly kind: 'test' | 'describe' | 'fixture' | 'function' | 'module';
  /** The kind, followed by the file and titles of a test, or the name of a fixture or function. */
  readonly key: string;
  readonly title: string;
  readonly steps: readonly Step[];
  /** The hooks around a test. */
  readonly hooks?: Hooks;
}
