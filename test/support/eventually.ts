import { expect, vi } from 'vitest'

type Assertion<T> = ReturnType<typeof expect.poll<T>>

const timeoutMs = 60_000

/**
 * Repeats an assertion until it holds, for up to a minute: `await eventually(() => page.title()).toBe('About')`. It
 * differs from `expect.poll` in that it works in concurrent tests.
 */
export function eventually<T>(read: () => T, message?: string): Assertion<T> {
  const matchers = (isNegated: boolean): Assertion<T> =>
    new Proxy({} as Assertion<T>, {
      get: (_, name) =>
        name === 'not'
          ? matchers(!isNegated)
          : async function matcher(...args: unknown[]) {
              const caller = new Error()
              Error.captureStackTrace(caller, matcher)
              try {
                await vi.waitFor(
                  async () => {
                    const assertion = expect(await read(), message)
                    const target = isNegated ? assertion.not : assertion
                    Reflect.apply(Reflect.get(target, name), target, args)
                  },
                  { timeout: timeoutMs, interval: 50 },
                )
              } catch (error) {
                // The stack of the assertion itself does not contain the test.
                if (error instanceof Error) error.stack = caller.stack?.replace(/^Error/, String(error))
                throw error
              }
            },
    })
  return matchers(false)
}
