import { injectEnv } from './report-format.js';

/** What a browser is made to believe: another time, in milliseconds since the epoch, a CPU so many times slower, or a network so slow. */
export type Emulation =
  | { readonly clock: number }
  | { readonly cpu: number }
  | { readonly latencyMs: number; readonly kbps: number };

/** The environment of a Playwright run that emulates it in every browser that the tests launch, if that browser can. */
export function emulated(what: Emulation): Readonly<Record<string, string>> {
  return { [injectEnv.emulate]: JSON.stringify(what) };
}
