/** What Playwright reports about an API call; since 1.53 the parameters are in the second argument. */
interface ApiCall {
  readonly params?: { readonly selector?: unknown };
}

/** An upper bound: no realistic test has more calls in flight at once. */
const mostCalls = 50;

/** The selectors of the calls that have not ended yet; at a failure, those that the test was still waiting for. */
export class PendingCalls {
  readonly #selectors = new Map<object, string>();

  /** A listener for Playwright's instrumentation. */
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
