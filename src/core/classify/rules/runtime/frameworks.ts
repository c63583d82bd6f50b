import { rulesFor, wrapping } from '../../rule.js';
import { uncaughtButNotTheCode } from './javascript.js';

/** Messages of React, Next, Vue, Nuxt, Svelte, Angular and their companions about code that fails at run time. */
export const frameworkRules = rulesFor('runtime-error', [
  {
    id: 'runtime/hydration',
    pattern:
      /hydration (?:failed|error|mismatch|node mismatch|text mismatch|text content mismatch|children mismatch|class mismatch|style mismatch|completed but contains mismatches)|\bhydration_\w+|error(?:ed)? while hydrating|text content (?:does|did) not match|didn't match the client|server[- ]rendered (?:HTML|text).{0,30}(?:match|mismatch)|did not match\. Server|Expected server HTML to contain|this Suspense boundary received an update before it finished hydrating/i,
    confidence: 0.9,
  },
  {
    id: 'runtime/react-caught',
    // React names the component that threw below the error itself, up to version 18 in a separate console entry.
    // https://github.com/facebook/react/blob/v19.0.0/packages/react-reconciler/src/ReactFiberErrorLogger.js
    pattern:
      /^ ?(?:Uncaught )?(?:[A-Z]\w{0,60})?(?:Error|Exception): [^\n]{1,400}(?:\n(?! ?(?:Uncaught )?\w{0,60}(?:Error|Exception): )[^\n]{0,400}){0,40}?(?<=\bThe above error occurred in (?:the|one of)\b[^\n]{0,400})$/m,
    sources: ['console'],
    unless: uncaughtButNotTheCode,
    confidence: 0.89,
  },
  {
    id: 'runtime/react',
    pattern:
      /error occurred in the Server Components render|(?:Minified )?React error #\d+|Invalid hook call|Rendered (?:more|fewer) hooks than|Too many re-renders|Cannot update a component \(|Can't perform a React state update|Maximum update depth exceeded|not valid as a React child|Element type is invalid|Nothing was returned from render|The above error occurred in (?:the|one of)|change in the order of Hooks|\buse[A-Z]\w{1,60}(?:\(\))?`? must be (?:used|called|wrapped)|must be (?:used|rendered) (?:within|inside) (?:a |an |the )?[`'<]?\w{0,40}(?:Provider|Context|Router)|could not find react-redux context|No QueryClient set|may be used only in the context of|React\.Children\.only|[Ee]rror [Bb]oundary (?:caught|:)|caught by (?:an )?error boundary/,
    confidence: 0.88,
  },
  {
    id: 'runtime/next',
    pattern:
      /from the server but \w{1,80} is on the client|pass\w{0,10} (?:directly )?to Client Components?|outside a request scope|\bNEXT_(?:REDIRECT|NOT_FOUND|HTTP_ERROR_FALLBACK)\b|Dynamic server usage|should be wrapped in a suspense boundary|only works in (?:a )?Client Components?|Failed to find Server Action/i,
    confidence: 0.85,
  },
  {
    id: 'runtime/next-rendering',
    // Next prints the error of a component that it rendered on the server, its frames and, at the end, the error's digest.
    pattern:
      /^[ \t]{0,4}(?:[A-Z]\w{0,60})?(?:Error|Exception): [^\n]{1,400}(?:\n(?! ?(?:Uncaught )?\w{0,60}(?:Error|Exception): )[^\n]{0,400}){0,40}?(?<=\n {0,8}digest: '\d{6,12}'[^\n]{0,4})$/m,
    sources: ['server'],
    unless: uncaughtButNotTheCode,
    confidence: 0.86,
  },
  ...wrapping({
    id: 'runtime/prerender',
    pattern: /error occurred prerendering page|Export encountered (?:an error|errors) on /i,
    confidence: 0.85,
  }),
  {
    id: 'runtime/vue',
    pattern:
      /\[Vue warn\]: (?:Unhandled error|Error in|Failed to resolve (?:component|directive)|.{0,80}is not defined on instance|Property .{0,80} was accessed during render)|requires access to the Nuxt instance|\[nuxt\] instance unavailable|getActivePinia\(\)|\[nuxt\].{0,40}error|\[h3\] \[unhandled\]|\[nitro\].{0,40}\[(?:unhandled|uncaught)/i,
    confidence: 0.82,
  },
  {
    id: 'runtime/svelte',
    pattern:
      /is not a valid SSR component|svelte\.dev\/e\/\w+|lifecycle_outside_component|outside component initialization|effect_update_depth_exceeded|each_key_duplicate|duplicate keys in a keyed each|state_unsafe_mutation|props_invalid_value/i,
    confidence: 0.88,
  },
  {
    id: 'runtime/angular',
    pattern:
      /\bNG0\d{2,4}\b|ExpressionChangedAfterItHasBeenChecked|Expression has changed after it was checked|NullInjectorError|No provider for \w|can't resolve dependencies of the |Can't resolve all parameters|outside (?:of )?(?:an )?injection context/i,
    confidence: 0.9,
  },
  {
    id: 'runtime/other-languages',
    pattern:
      /object has no attribute '|\b(?:KeyError|NameError|IndexError|ZeroDivisionError|UnboundLocalError): |\bNoMethodError\b|undefined (?:local variable or )?method [`']|\bNullPointerException\b|nil pointer dereference|^\s{0,20}(?:\S{1,60} )?panic: |\bpanic serving \S{1,60}: |\bruntime error: (?:index out of range|slice bounds|integer divide)|^fatal error: (?:concurrent map|all goroutines)|\btemplate: \S{1,100}:\d{1,6}:\d{1,6}: executing |panicked at |\bNullReferenceException\b|Object reference not set|Call to (?:undefined|a member) function|\*\* \((?!Mix\b|Ecto|Postgrex|MyXQL|Exqlite|DBConnection|Mint|Finch|Req\.|Compile|Syntax|Token|Mismatched)[A-Z][\w.]{1,80}\) \S|Undefined (?:index|array key|variable)\b|\bActionView::\w+|\bTemplateSyntaxError\b/m,
    unless: /'(?:Page|Browser|BrowserContext|Locator|Playwright|Frame)' object has no attribute|fixture/,
    // As an exception of JavaScript: the page may throw because it got no list from a server that did.
    confidence: 0.9,
  },
  {
    id: 'runtime/jvm-or-dotnet',
    // An exception of Java or .NET with its frames; of those that wrap each other, the innermost.
    pattern:
      /^[ \t]{0,12}(?:---> )?(?:[A-Z]\w{0,60}\.){1,8}[A-Z]\w{0,80}Exception: [^\n]{1,600}\n[ \t]{1,16}at |^(?:Caused by: |Exception in thread "[^"\n]{1,100}" )?(?:[a-z_][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,80}(?:Exception|Error)(?:: [^\n]{0,600})?\n(?:[ \t]{1,8}(?:at|\.\.\.) [^\n]{1,400}(?:\n|(?![^]))){1,300}(?![ \t]|Caused by: )/m,
    sources: ['server'],
    unless:
      /SQL|Sql|Hibernate|Jdbc|Persistence|DataAccess|DataIntegrity|Mongo|Redis|EntityFramework|HttpRequest|Canceled|\bjava\.net\.|\bjavax\.net\.|Connect|Socket|Timeout|BindException|ClassNotFound|NoClassDefFound|UnsupportedClassVersion/,
    confidence: 0.9,
  },
]);
