import { expect } from 'vitest'
import { waitInTurns } from './time-limit.ts'

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
              let failure: unknown
              const holds = await waitInTurns(
                async () => {
                  try {
                    const assertion = expect(await read(), message)
                    const target = isNegated ? assertion.not : assertion
                    Reflect.apply(Reflect.get(target, name), target, args)
                    return true
                  } catch (error) {
                    failure = error
                    return false
                  }
                },
                timeoutMs,
                50,
              )
              if (holds) return
              // The stack of the assertion itself does not contain the test.
              if (failure instanceof Error) failure.stack = caller.stack?.replace(/^Error/, String(failure))
              throw failure
            },
    })
  return matchers(false)
}
