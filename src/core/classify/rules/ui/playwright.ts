import { uiRules } from '../../rule.js';

/** How Playwright, and browser automation in general, reports that the page is not as the test expects. */
export const playwrightRules = uiRules([
  {
    id: 'ui/strict-mode',
    pattern: /strict mode violation|(?<!\blocator )\bresolved to (?:[2-9]|[1-9]\d{1,5}) elements/i,
    confidence: 0.95,
  },
  {
    id: 'ui/intercepted',
    pattern:
      /intercepts pointer events|click intercepted|is not clickable|[Oo]ther element would receive|is being covered by|unknown error: Element </i,
    confidence: 0.93,
  },
  {
    id: 'ui/locator-assertion',
    pattern:
      /(?:Locator|Page)(?: \w{1,20}){0,3} expected (?:not )?to|expect\((?:locator|page)\)\.|element\(s\) not found|waiting for expect\(|\bexpect\.to[A-Z]\w+ with timeout|\bLocatorAssertions\b/,
    confidence: 0.92,
  },
  {
    id: 'ui/value-assertion',
    pattern:
      /Expected values to be|evaluated to a falsy value|expect\((?:received|actual|value|jest\.fn\(\))\)|\bAssertionError\b|AssertionFailedError|ExpectationNotMetError|^\s{0,20}Expected(?: string| substring| pattern| value| length)?:|[Ee]xpected .{1,200} (?:to (?:be|equal|have|contain|include|match|exist|deeply|strictly)\b|not to\b|but (?:got|was|received))|expect\(.{1,80}\)\.(?:not\.)?to[A-Z]\w+\(/m,
    confidence: 0.75,
  },
  {
    id: 'ui/screenshot',
    pattern:
      /close match to snapshot|\b\d{1,9} pixels \(ratio|pixels are different|[Ss]creenshot (?:comparison failed|does not match|mismatch)|[Ss]napshot comparison failed|snapshot doesn't exist at|\bto(?:HaveScreenshot|MatchSnapshot|MatchAriaSnapshot|MatchImageSnapshot|MatchInlineSnapshot)\b|Expected an image \d|(?:image|screenshot) was .{1,40} different from|writing actual|expected: .{0,80}snapshot|visual (?:difference|regression)|snapshots? (?:failed|obsolete)|\b(?:screenshot|snapshot|image)s?\b.{0,40}\bdiffer/i,
    confidence: 0.9,
  },
  {
    id: 'ui/action-timeout',
    pattern:
      /\b(?:locator|page|frame|elementhandle|element_handle|framelocator|frame_locator|keyboard|mouse)\.(?!goto|reload|go_?back|go_?forward|wait_?for_?(?:url|navigation|response|request|load_?state|event|timeout|function)|expect_|evaluate|screenshot|pause|close)\w{1,40}: (?:Test )?[Tt]imeout/i,
    confidence: 0.9,
  },
  {
    id: 'ui/unfinished-action',
    // Written by self-heal for an action that was still running when the test ended.
    pattern:
      /^Error: \w[\w ]{0,30} (?:locator|getBy\w+|frameLocator)\(.{0,300} had not finished when the test ended/m,
    sources: ['error'],
    confidence: 0.9,
  },
  {
    id: 'ui/waiting-for-element',
    pattern:
      /^\s{0,20}-?\s{0,9}locator resolved to \S|^\s{0,20}-?\s{0,9}unexpected value \S|waiting for (?:locator|getBy\w+|get_by_\w+|selector|frameLocator|frame_locator)\b|waiting for element to be|failed to find element matching|No node found for selector|waiting for .{0,40}\bto be (?:visible|hidden|attached|detached|enabled)/im,
    confidence: 0.86,
  },
  {
    id: 'ui/actionability',
    pattern:
      /did not change its state|[Ee]lement is not (?:visible|enabled|stable|editable|attached|an <?(?:input|select|HTML))|[Ee]lement (?:was|is) detached|[Ee]lement is outside of the viewport|[Ss]croll(?:ing)? into view|(?:retrying|performing|attempting) \w+ action|element to be visible, enabled|not attached to the DOM|detached from (?:the )?(?:DOM|document)|not an HTMLElement|element not interactable|stale element reference|[Ee]lement not visible|did not find some options|\belement .{0,80}(?:is|was|still) not (?:visible|displayed|clickable|enabled|existing)/i,
    confidence: 0.86,
  },
  {
    id: 'ui/element-not-found',
    pattern:
      /Element(?:NotInteractable|ClickIntercepted|NotVisible)Exception|StaleElementReference|invalid selector|while parsing (?:css )?selector|Unknown engine "|no such element|\bNoSuchElement|Unable to (?:find|locate) (?:an? |the )?(?:accessible )?(?:visible |non-visible )?(?:element|css|xpath|link|button|field|role|node|label|text|option)|[Ee]xpected to find (?:element|content|text|css|xpath|visible|link|button|field)|\bTestingLibraryElementError\b|\bCapybara::\w+|[Cc]ould not find (?:an? |the )?element|Can't call \w+ on element|Found multiple elements|Ambiguous match|element \(".{1,200}"\) still not|[Ee]lement not found|failed because this element|No element found using|elements? that match(?:es)? locator/i,
    confidence: 0.88,
  },
  {
    id: 'ui/locator-complaint',
    pattern: /\b(?:locator|elementHandle|frameLocator)\.\w{1,40}: (?:Error: )?[A-Z]/i,
    unless:
      /[Tt]arget (?:page|closed|crashed)|[Cc]losed|[Cc]rashed|Protocol|[Ee]xecution context|Test ended|is not a function/,
    confidence: 0.72,
  },
  {
    id: 'ui/python-frame',
    pattern: /playwright\/_impl\/_(?:locator|element_handle)\.py\W.{1,40} in \w/,
    confidence: 0.5,
  },
  {
    id: 'ui/waiting-for-event',
    pattern:
      /while waiting for event "(?:popup|dialog|download|filechooser|page|console|framenavigated|worker)"|\b(?:page|frame)\.(?:waitForFunction|wait_for_function|waitForURL|wait_for_url): (?:Test )?timeout/i,
    confidence: 0.75,
  },
  {
    id: 'ui/accessibility',
    pattern:
      /toHaveNoViolations|\b\d{1,6} (?:accessibility|a11y) violations?|\b[1-9]\d{0,4} violations? (?:were |was )?(?:found|detected)|accessibility violations? (?:was|were|detected|found)/i,
    confidence: 0.8,
  },
  {
    id: 'ui/click-timeout-words',
    pattern:
      /\b(?:[Cc]lick|[Ff]ill|[Hh]over|[Tt]ap|[Pp]ress|[Cc]heck|[Tt]ype|[Ss]elect)\w* tim(?:es|ed) ?out|Timed out retrying after \d+ms|[Tt]imeout.{0,60}waiting for (?:element|locator|selector)|(?:locator|selector|element)\b.{0,80}(?:timeout|timed out)/i,
    confidence: 0.75,
  },
  {
    id: 'ui/prose',
    // A description in prose of what the page showed.
    pattern:
      /\b(?:button|menu|modal|dialog|dropdown|link|field|checkbox|toast|spinner|heading|popup|tooltip)s?\b.{0,60}\b(?:(?:does(?: not|n't)|did(?: not|n't)|is not|isn't|never|not|cannot be|can't be) ?(?:open|appear|shown?|visible|displayed|click|enabled|found|rendered|close|react|respond)\w*|is (?:disabled|hidden|covered|missing)|stays? \w+|stuck)\b/i,
    confidence: 0.33,
  },
  {
    id: 'ui/failed-expectation',
    // The title of a step; up to about 1.53, `expect.toHaveText`.
    pattern: /^(?:Expect "[\w ]{1,60}"|expect\.(?:\w{1,20}\.)?to[A-Z]\w{0,60})/m,
    confidence: 0.4,
  },
  {
    id: 'ui/timeout',
    pattern: /\bTimeout \d+ms exceeded|TimeoutError/i,
    confidence: 0.4,
  },
]);
