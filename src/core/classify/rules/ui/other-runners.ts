import { uiRules } from '../../rule.js';

/** UI failures in the words of plain assertions, and in fragments of Playwright's own reports. */
export const otherRunnerRules = uiRules([
  {
    id: 'ui/plain-assertion',
    // Compared values of unknown origin, usually something that the page shows.
    pattern:
      /expected:? ?[[<"'].{0,200}[\]>"'],? but (?:found|was|got)|\bexpected:? .{1,200}? but (?:was|found|got|received|it was|saw):? |Assert\.\w{1,30}\(\) Failure|Failed asserting that|Failure\/Error: |^\s{0,20}AssertionError\b|^E\s{1,12}assert |\bassert(?:ion)?(?: .{1,60})? failed\b|^E?\s{0,12}AssertionError: |\bComparisonFailure\b|\bAssertionFailedError\b|\bAssertionException\b|\bexpected .{1,100}?[,;]? (?:but )?got .|Error Trace:|\bexpected (?:the )?(?:element|locator|button|link|text|page|heading|dialog)\b.{1,120} (?:not )?to (?:be|have|contain|show)\b|\bNot equal: |Minitest::Assertion/im,
    unless: /\bstatus\b|\bHTTP\b/,
    confidence: 0.62,
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
]);
