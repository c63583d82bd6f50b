/** What Playwright tells of a call of its API; since 1.53 the parameters come as a second argument. */
interface ApiCall {
  readonly params?: { readonly selector?: unknown };
}

/** More calls than these are not under way at once in any test that is worth looking into. */
const mostCalls = 50;

/** The selectors of the calls that have not ended yet: at a failure, those that the test still waited for. */
class PendingCalls {
  readonly #selectors = new Map<object, string>();

  /** To be added to Playwright's instrumentation. */
  readonly listener = {
    onApiCallBegin: (call: ApiCall, channel?: ApiCall): void => {
      const selector = channel?.params?.selector ?? call.params?.selector;
      if (typeof selector === 'string' && this.#selectors.size < mostCalls)
        this.#selectors.set(call, selector);
    },
    onApiCallEnd: (call: object): void => {
      this.#selectors.delete(call);
    },
  };

  selectors(): string[] {
    return [...this.#selectors.values()];
  }
}

const api = { PendingCalls };
module.exports = api;
export type Api = typeof api;
