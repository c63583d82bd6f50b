import type { LocatorText } from '../../core/guard/outline.js';
import type { Scope } from './scope.js';
import type { SyntaxNode } from './syntax.js';
import type { TestSources } from './test-sources.js';

/** What the printing of one expression shares on its way down. */
export interface Printing {
  readonly sources: TestSources;
  /** Takes the locators that are found on the way. */
  readonly locators: LocatorText[];
  readonly depth: number;
  /** Prints what is inside: locators hold expressions, and expressions hold locators. */
  readonly print: (node: SyntaxNode, scope: Scope, printing: Printing) => string;
}
