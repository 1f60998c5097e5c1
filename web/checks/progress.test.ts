import { expect, it } from 'vitest'
import type { ChannelCheckBody } from '../../src/contract/checks.ts'
import { parseCheck } from './address.ts'
import { countProgress, findNext, inOrder, isWalking } from './progress.ts'

type Last = ChannelCheckBody['last']

const at = (result: 'pass' | 'fail'): Last => ({ result, note: null, time: '2026-11-23T18:00:00.000Z', by: 'Ann' })
const check = (channel_id: number, last: Last = null) => ({ channel_id, last })
const checks = [check(1, at('pass')), check(2), check(3, at('fail')), check(4)]
const idsOf = (list: readonly { channel_id: number }[]) => list.map(({ channel_id }) => channel_id)

it('counts checked and failed channels', () => {
  expect(countProgress(checks)).toEqual({ total: 4, checked: 2, failed: 1 })
  expect(countProgress([])).toEqual({ total: 0, checked: 0, failed: 0 })
})

it('lists failed and unchecked channels first, each by slot', () => {
  expect(idsOf(inOrder(checks, 'open'))).toEqual([3, 2, 4, 1])
  expect(idsOf(inOrder(checks, 'slot'))).toEqual([1, 2, 3, 4])
})

it.each([
  [1, 2],
  [2, 4],
  [3, 4],
  [4, 2],
  [99, 2],
])('after channel %i, channel %i is the next that is not checked', (id, next) => {
  expect(findNext(checks, id)?.channel_id).toBe(next)
})

it('has no next channel if only this one is left', () => {
  expect(findNext([check(1, at('pass')), check(2)], 2)).toBeNull()
})

it('a check is in progress from its beginning to its result', () => {
  const early = '2026-11-23T17:59:00.000Z'
  const late = '2026-11-23T18:01:00.000Z'
  expect(isWalking({ began_at: null, last: at('pass') })).toBe(false)
  expect(isWalking({ began_at: early, last: null })).toBe(true)
  expect(isWalking({ began_at: early, last: at('pass') })).toBe(false)
  expect(isWalking({ began_at: late, last: at('pass') })).toBe(true)
})

it('ignores what is not an id in the address', () => {
  expect(parseCheck({ show: '3', channel: 'x', order: 'open' })).toEqual({ show: 3, channel: null, order: 'open' })
  expect(parseCheck({ show: '-1', order: 'up' })).toEqual({ show: null, channel: null, order: 'slot' })
})
