import type { Rule } from '../rules.js';
import type { ActionStep } from './step.js';

/** How a call is classified: the kind of step that it is, and the rule that adding it breaks. */
export interface CallKind {
  readonly kind: ActionStep['kind'];
  readonly rule: Rule;
}

/** Calls that change nothing, which a test may gain or lose. */
const reads =
  /^(?:getBy\w+|locator|frameLocator|filter|first|last|nth|and|or|contentFrame|owner|unroute|unrouteAll|textContent|innerText|innerHTML|inputValue|count|is[A-Z]\w*|all|allTextContents|allInnerTexts|getAttribute|url|title|content|screenshot|ariaSnapshot|boundingBox|waitForLoadState|scrollIntoViewIfNeeded|log|info|warn|error|debug|attach|bringToFront|highlight|json|text|body|ok|status|statusText|headers|allHeaders|context|page|mainFrame|viewportSize|failure|suggestedFilename|method|postData\w*|resourceType|timing|headerValues?|request|response|message|extend|mergeTests|mergeExpects|defineConfig)$/;

/** Built-in methods and functions that have no effect, whatever they are called on. */
const pure =
  /^(?:map|flatMap|filter|reduce|find\w*|some|every|slice|concat|at|join|includes|indexOf|lastIndexOf|flat|keys|values|entries|from|of|isArray|fromEntries|toSorted|toReversed|trim\w*|split|replace|replaceAll|match|matchAll|test|startsWith|endsWith|toLowerCase|toUpperCase|toLocale\w+|padStart|padEnd|repeat|substring|charAt|toString|toFixed|toISOString|getTime|getFullYear|getMonth|getDate|parse|stringify|parseInt|parseFloat|Number|String|Boolean|Symbol|round|floor|ceil|abs|max|min|random|now|has|get|format|localeCompare|resolve|objectContaining|arrayContaining|stringContaining|stringMatching|anything|any|closeTo|dirname|basename|relative|normalize|devices|require|readFileSync|existsSync)$/;

/** Built-in classes that can be instantiated without an effect. */
export const pureClass =
  /^(?:Date|Map|Set|URL|URLSearchParams|RegExp|Error|\w+Error|Intl\.\w+|Array|WeakMap)$/;

const families: readonly (readonly [RegExp, ActionStep['kind'], Rule])[] = [
  [/^waitFor(?:Response|Request|Event|Download|Popup|FileChooser|URL)$/, 'wait', 'step-added'],
  [/^(?:skip|fixme|fail|only|slow)$/, 'restriction', 'test-modifier'],
  [/^set(?:Timeout|DefaultTimeout|DefaultNavigationTimeout)$/, 'limit', 'timeout-raised'],
  [/^waitForTimeout$|^pause$/, 'restriction', 'sleep-added'],
  [/^(?:route|routeFromHAR|routeWebSocket|fulfill)$/, 'restriction', 'mocked-route'],
  [
    /^(?:evaluate|evaluateAll|evaluateHandle|\$eval|\$\$eval|setContent|addInitScript|addScriptTag|addStyleTag|exposeFunction|exposeBinding|dispatchEvent|setOffline|addCookies|setExtraHTTPHeaders|addLocatorHandler|waitForFunction|setFixedTime|setSystemTime|fastForward|runFor|pauseAt|install)$/,
    'action',
    'page-rewritten',
  ],
  [/^(?:goto|goBack|goForward|reload)$/, 'action', 'navigation-added'],
  [/^(?:on|once|addListener|removeAllListeners|addEventListener)$/, 'action', 'listener-added'],
  [/^(?:exit|kill|abort|reallyExit)$/, 'action', 'process-ended'],
  [/^(?:defineProperty|defineProperties|assign|setPrototypeOf|eval|Function)$/, 'action', 'patched'],
  [/^(?:use|configure)$/, 'restriction', 'run-option'],
];

/** Classifies a call by its name; null if it only reads. */
export function callKind(name: string): CallKind | null {
  if (reads.test(name) || pure.test(name)) return null;
  const found = families.find(([pattern]) => pattern.test(name));
  return found ? { kind: found[1], rule: found[2] } : { kind: 'action', rule: 'step-added' };
}

/** Actions that do the same to another kind of control, so that one may replace the other. */
export const sameVerb: Readonly<Record<string, string>> = {
  tap: 'click',
  check: 'click',
  type: 'fill',
  pressSequentially: 'fill',
  selectOption: 'fill',
};

/** Options that say how long and how hard a call tries. They have fields of their own in a step, or change nothing. */
export const ownOption =
  /^(?:timeout|force|trial|state|noWaitAfter|strict|delay|waitUntil|intervals|message): /;

/** Rules of calls whose function runs in the page, or whenever something happens: its text is compared. */
export const ofScripts = /^(?:page-rewritten|mocked-route|listener-added)$/;

/** Objects that Playwright and the language provide: a test that writes to one changes it for all other tests. */
export const given =
  /^(?:expect|test|it|page|context|browser|request|globalThis|global|window|process|console|Date|Math|Promise|Array|Object|String|Number|Locator|Page|module|require)$/;
