import type { LocatorText } from '../../code/locator.js';
import type { Place } from '../../code/source-file.js';
import type { Rule } from '../rules.js';

/** What every step of a test has. */
interface StepBase extends Place {
  /** Conditions, loops and handlers that may keep it from running or from failing the test. */
  readonly guards: readonly string[];
  readonly awaited: boolean;
  readonly locators: readonly LocatorText[];
  /** Milliseconds; null where it names no limit, `Infinity` for none at all. */
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
  /** `key: value` of each property of an expected object. */
  readonly parts?: readonly string[];
  /** `key: value` of each option but the time-out. */
  readonly options: readonly string[];
  /** Where its `expect` comes from: `playwright`, or the code that took its place. */
  readonly origin: string;
}

/** Anything else that a test does. */
export interface ActionStep extends StepBase {
  /**
   * `action` has to stay and may not be added; `wait` may be added; `check` (a thrown error) too; `limit` and `restriction`
   * may go, and be lowered.
   */
  readonly kind: 'action' | 'wait' | 'check' | 'limit' | 'restriction';
  readonly verb: string;
  /** Receiver and arguments, without options that have fields of their own. */
  readonly data: string;
  readonly forced: boolean;
  /** The text that it types into the page. */
  readonly types?: string;
  /** The rule that is broken where it is new. */
  readonly rule: Rule;
}

/** Where a step stands, and what may keep it from running. */
type Placed = keyof Place | 'guards' | 'awaited';
/** An assertion as far as its own expression says it. */
export type BareAssertion = Omit<AssertionStep, Placed>;
/** An action as far as its own call says it. */
export type BareAction = Omit<ActionStep, Placed>;

/** One thing that a test does. */
export type Step = AssertionStep | ActionStep;

/** What the hooks of a describe block or a module do; those that stand behind a test run for it, too. */
export interface Hooks {
  readonly around: Hooks | null;
  readonly before: Step[];
  readonly after: Step[];
}

/** A test, a fixture, the statements and hooks of a describe block or a module: whatever is run, with the helpers that it calls read in. */
export interface Root extends Place {
  readonly kind: 'test' | 'describe' | 'fixture' | 'function' | 'module';
  /** File and titles of a test; name of a fixture or function. */
  readonly key: string;
  readonly title: string;
  readonly steps: readonly Step[];
  /** The hooks around a test. */
  readonly hooks?: Hooks;
}
