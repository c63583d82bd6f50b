import { uiRules } from '../../rule.js';

/** UI failures as the assertions and drivers of other runners and languages report them. */
export const otherRunnerRules = uiRules([
  {
    id: 'ui/selenium-wait',
    pattern:
      /Expected condition failed|waiting for (?:visibility|presence|element|text|invisibility|staleness)\b.{0,60}(?:located|clickable|to be|of)|\(tried for \d+ (?:second|milli)|element reference\b.{0,120} (?:is )?stale|no longer attached to the DOM|is not attached to the page document/i,
    confidence: 0.86,
  },
  {
    id: 'ui/plain-assertion',
    // Compared values of unknown origin, usually something that the page shows.
    pattern:
      /expected:? ?[[<"'].{0,200}[\]>"'],? but (?:found|was|got)|\bexpected:? .{1,200}? but (?:was|found|got|received|it was|saw):? |Assert\.\w{1,30}\(\) Failure|Failed asserting that|Failure\/Error: |^\s{0,20}AssertionError\b|^E\s{1,12}assert |\bassert(?:ion)?(?: .{1,60})? failed\b|^E?\s{0,12}AssertionError: |\bComparisonFailure\b|\bAssertionFailedError\b|\bAssertionException\b|\bexpected .{1,100}?[,;]? (?:but )?got .|Error Trace:|\bexpected (?:the )?(?:element|locator|button|link|text|page|heading|dialog)\b.{1,120} (?:not )?to (?:be|have|contain|show)\b|\bNot equal: |Minitest::Assertion/im,
    unless: /\bstatus\b|\bHTTP\b/,
    confidence: 0.62,
  },
  {
    id: 'ui/command-failed',
    pattern:
      /\bcy\.(?!visit|request|wait|task|exec|origin|session)\w{2,30}\(\)`? failed because|Node is either not (?:clickable|visible)|\bselenium\.(?:common\.exceptions\.)?TimeoutException\b/i,
    confidence: 0.82,
  },
  {
    id: 'ui/other-drivers',
    // TestCafe, Nightwatch, Dusk.
    pattern:
      /\bspecified selector (?:does|is|did)\b|expected "[\w ]{1,30}" but got: "|while waiting for element\b|did not see expected text|not currently interactable|WebDriver\\Exception\\(?:NoSuchElement|ElementNot|InvalidElement|StaleElement|ElementClick|Timeout)/i,
    confidence: 0.85,
  },
  {
    id: 'ui/aria-difference',
    // Two different roles in a page snapshot; the matcher's own line was cut off.
    pattern:
      /^[ \t]*[-+] {1,12}- (?:button|link|heading|text|textbox|list|listitem|paragraph|img|banner|navigation)\b/m,
    confidence: 0.75,
  },
  {
    id: 'ui/page-action',
    // A page action that failed for a reason given in its log.
    pattern:
      /\b(?:[Pp]age|[Ff]rame|[Mm]ouse|[Kk]eyboard|[Tt]ouchscreen)\.(?:click|dblclick|tap|fill|type|press|check|uncheck|set_?[Cc]hecked|hover|focus|select_?[Oo]ption|set_?[Ii]nput_?[Ff]iles|drag_?[Aa]nd_?[Dd]rop|dispatch_?[Ee]vent|text_?[Cc]ontent|inner_?(?:[Tt]ext|HTML|html)|get_?[Aa]ttribute|input_?[Vv]alue|is_?(?:[Vv]isible|[Hh]idden|[Ee]nabled|[Dd]isabled|[Cc]hecked)|wait_?[Ff]or_?[Ss]elector|screenshot|move|wheel|down|up)(?:_\w{1,20})?: \S/,
    unless:
      /[Tt]arget (?:page|closed|crashed)|[Cc]losed|[Cc]rashed|Protocol|[Ee]xecution context|Test ended|is not a function/,
    confidence: 0.72,
  },
  {
    id: 'ui/driver-action-frame',
    // The same in the .NET and Java drivers.
    pattern:
      /^\s{0,20}at (?:async )?[^\n]{0,120}\b(?:(?:Click|Fill|Type|Press|Check|Hover|WaitForSelector|SelectOption|TextContent|InnerText)Async\b|(?:Locator|Frame|Page|ElementHandle)Impl\.(?:click|fill|type|press|check|hover|waitForSelector|waitFor|selectOption|textContent|innerText)\w{0,8}\()/m,
    confidence: 0.5,
  },
  {
    id: 'ui/python-action-frame',
    pattern:
      /a?sync_api\/_generated\.py\W.{1,30} in (?:click|dblclick|fill|type|press|check|uncheck|hover|tap|focus|select_option|set_input_files|wait_for_selector|text_content|inner_text|inner_html|get_attribute|to_\w{2,40}|not_to_\w{2,40})\b/,
    confidence: 0.5,
  },
]);
