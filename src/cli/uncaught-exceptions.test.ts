import { expect, it } from 'vitest'
import { runForSource } from '../platform/source-context.ts'
import { surviveExceptions } from './uncaught-exceptions.ts'

function start() {
  let handle = (_error: unknown) => {}
  let hasGivenUp = false
  const onException = (listener: typeof handle) => {
    handle = listener
  }
  const giveUp = () => {
    hasGivenUp = true
  }
  surviveExceptions({ onException, giveUp }, { error() {}, fatal() {} })
  return {
    throwOften: (error: Error) => {
      for (let count = 0; count < 20; count++) handle(error)
    },
    hasGivenUp: () => hasGivenUp,
  }
}

it('stops the service if the same exception repeats too often', () => {
  const { throwOften, hasGivenUp } = start()
  throwOften(new Error('permanent'))
  expect(hasGivenUp()).toBe(true)
})

it('makes an exception in a timer of a source a failure of that source, however often it repeats', async () => {
  const { throwOften, hasGivenUp } = start()
  const failures: unknown[] = []
  const error = new Error('malformed')
  const fail = (failure: unknown) => void failures.push(failure)
  await runForSource({ fail }, () => new Promise<void>((resolve) => setTimeout(() => resolve(throwOften(error)))))
  expect(failures).toHaveLength(20)
  expect(failures[0]).toBe(error)
  expect(hasGivenUp()).toBe(false)
})
