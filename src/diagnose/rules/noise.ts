import type { EvidenceSource } from '../../model/diagnosis.js';
import type { NoiseRule } from '../rule.js';

const logSources: readonly EvidenceSource[] = ['console', 'network', 'server'];

/** Routine output of pages and servers that never decides a failure. */
export const noiseRules: readonly NoiseRule[] = [
  {
    id: 'noise/files',
    pattern:
      /favicon|apple-touch-icon|robots\.txt|(?<!(?:build|dist|\.vite)\/|[\w-])manifest\.json|site\.webmanifest|\.well-known\/appspecific|source ?map|\.(?:js|css)\.map\b/i,
    sources: logSources,
  },
  {
    id: 'noise/third-party',
    pattern:
      /google-?(?:analytics|tagmanager|syndication|adservices)|googleapis\.com\/(?:css|log)|doubleclick\.net|(?:connect\.)?facebook\.(?:net|com)|\bsegment\.(?:io|com)|hotjar|sentry(?:\.io|-cdn)|mixpanel|amplitude\.com|intercom(?:cdn|\.io)|fullstory|datadoghq|newrelic|nr-data|posthog|clarity\.ms|plausible\.io|matomo|m\.stripe\.com|cookiebot|onetrust|cloudflareinsights|vercel-insights|_vercel\/|hubspot|ERR_BLOCKED_BY_CLIENT|\/(?:analytics|telemetry)\b/i,
    sources: ['console', 'network'],
  },
  {
    id: 'noise/development-hint',
    pattern:
      /Download the (?:React|Vue|Apollo) DevTools|React DevTools|DevTools (?:failed|listening)|\bdeprecat(?:ed|ion)\b|\[HMR\]|\[vite\] (?:connect|failed to connect)|\[PLUGIN_TIMINGS\]|\[Fast Refresh\]|was preloaded using link|third-party cookie|autocomplete attributes|browserslist|non-passive event|\[Violation\](?! Permissions policy)|React Router Future Flag|unique "key" prop|__nextjs_original-stack-frame|OTS parsing error|Failed to decode downloaded font|^(?!.*(?:error|fail)).*(?:\] We recommend\b|\bfor (?:better|improved|best) performance\b)/i,
    sources: logSources,
  },
  {
    id: 'noise/health-check',
    // Traces of `pg_isready` and port probes in the log of a PostgreSQL container.
    pattern: /role "root" does not exist|(?:incomplete|invalid length of) startup packet/,
    sources: ['console', 'server'],
  },
  {
    id: 'noise/server-routine',
    // Low log levels, and successful requests.
    pattern:
      /^\s{0,20}(?:\S{1,40}\s){0,3}\[?(?:INFO|DEBUG|TRACE|info|debug|trace)\]?[:\s]|"level":(?:10|20|30|"(?:info|debug|trace)")|\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)["']? ["']?\/\S{0,300}["']?(?: HTTP\/[\d.]{1,3}["']?)? (?:200|201|204|30[123478])\b/,
    sources: ['server'],
  },
];
