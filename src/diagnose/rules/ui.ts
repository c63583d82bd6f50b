import { certain, type EvidenceSource, likely, weak } from '../../model/diagnosis.js';
import { createRules } from '../rule.js';

/** Only the test's own error shows how the test saw the page, so other channels do not count. */
const testSources: readonly EvidenceSource[] = ['error', 'stack'];
/** Errors of actions whose page or browser was gone. */
const browserGone =
  /Target (?:page|closed|crashed)|closed|crashed|Protocol|execution context|Test ended|is not a function/i;

/** The page does not show, or does not allow, what the test expects (CS-4): a symptom, outranked by any deeper evidence. */
export const uiRules = createRules('ui-error', {
  'ui/strict-mode': [
    certain,
    /strict mode violation|(?<!\blocator )\bresolved to (?:[2-9]|[1-9]\d{1,5}) elements/i,
    { in: testSources },
  ],
  'ui/intercepted': [
    certain,
    /intercepts pointer events|click intercepted|is not clickable|unknown error: Element <|other element would receive/i,
    { in: testSources },
  ],
  'ui/locator-assertion': [
    likely,
    /(?:Locator|Page)(?: \w{1,20}){0,3} expected (?:not )?to|expect\((?:locator|page)\)\.|element\(s\) not found|waiting for expect\(|\bexpect\.to[A-Z]\w+ with timeout|\bLocatorAssertions\b/,
    { in: testSources },
  ],
  'ui/screenshot': [
    certain,
    /close match to snapshot|\b\d{1,9} pixels \(ratio|screenshot (?:comparison failed|does not match|mismatch)|snapshot doesn't exist at|\bto(?:HaveScreenshot|MatchSnapshot|MatchAriaSnapshot)\b|Expected an image \d/i,
    { in: testSources },
  ],
  'ui/action-timeout': [
    likely,
    // The second is written by self-heal, for an action that was still running when the test ended.
    /\b(?:locator|page|frame|elementhandle|element_handle|framelocator|frame_locator|keyboard|mouse)\.(?!goto|reload|go_?back|go_?forward|wait_?for_?(?:url|navigation|response|request|load_?state|event|timeout|function)|expect_|evaluate|screenshot|pause|close)\w{1,40}: (?:Test )?[Tt]imeout|^Error: \w[\w ]{0,30} (?:locator|getBy\w+|frameLocator)\(.{0,300} had not finished when the test ended/im,
    { in: testSources },
  ],
  'ui/waiting-for-element': [
    likely,
    /^\s{0,20}-?\s{0,9}locator resolved to \S|^\s{0,20}-?\s{0,9}unexpected value \S|waiting for (?:locator|getBy\w+|get_by_\w+|selector|frameLocator|frame_locator)\b|waiting for element to be|did not change its state|Element is not (?:visible|enabled|stable|editable|attached|an <?(?:input|select|HTML))|Element is outside of the viewport|(?:retrying|performing|attempting) \w+ action|not attached to the DOM|detached from (?:the )?(?:DOM|document)|did not find some options|no such element|\bNoSuchElement|Unable to (?:find|locate) (?:an? |the )?(?:accessible )?(?:element|role|label|text)|StaleElementReference|stale element reference|No element found using|element not found|while parsing (?:css )?selector|Expected to find (?:element|content|text)|\b(?:click|fill|hover|tap|press|check|type|select)\w* tim(?:es|ed) ?out|timeout.{0,60}waiting for (?:element|locator|selector)|(?:locator|selector|element)\b.{0,80}(?:timeout|timed out)/im,
    { in: testSources },
  ],
  'ui/value-assertion': [
    likely,
    /expect\((?:received|actual|value|jest\.fn\(\))\)|\bAssertionError\b|^\s{0,20}Expected(?: string| substring| pattern| value| length)?:|expected .{1,200} (?:to (?:be|equal|have|contain|include|match|exist|deeply|strictly)\b|not to\b|but (?:got|was|received|found))|expect\(.{1,80}\)\.(?:not\.)?to[A-Z]\w+\(|^E\s{1,12}assert /im,
    { in: testSources },
  ],
  'ui/locator-complaint': [
    likely,
    /\b(?:locator|elementHandle|frameLocator)\.\w{1,40}: (?:Error: )?[A-Z]|\b(?:page|frame|mouse|keyboard)\.(?:click|dblclick|tap|fill|type|press|check|uncheck|hover|focus|select_?option|set_?input_?files|drag_?and_?drop|text_?content|inner_?(?:text|html)|get_?attribute|is_?visible|wait_?for_?selector|screenshot)(?:_\w{1,20})?: \S/i,
    { in: testSources, unless: browserGone },
  ],
  'ui/waiting-for-event': [
    likely,
    /while waiting for event "(?:popup|dialog|download|filechooser|page|console|framenavigated|worker)"|\b(?:page|frame)\.(?:waitForFunction|wait_for_function|waitForURL|wait_for_url): (?:Test )?timeout/i,
    { in: testSources },
  ],
  'ui/accessibility': [
    likely,
    /toHaveNoViolations|\b[1-9]\d{0,5} (?:accessibility|a11y)? ?violations?\b/i,
    { in: testSources },
  ],
  'ui/failed-expectation': [
    weak,
    // The title of a step; a frame of Playwright for Python.
    /^(?:Expect "[\w ]{1,60}"|expect\.(?:\w{1,20}\.)?to[A-Z]\w{0,60})|playwright\/_impl\/_(?:locator|element_handle)\.py\W.{1,40} in \w|\bTimeout \d+ms exceeded|TimeoutError/m,
    { in: testSources },
  ],
});
