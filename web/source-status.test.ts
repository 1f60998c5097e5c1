import { expect, it } from 'vitest'
import type { UpstreamStatus } from '../src/contract/values.ts'
import { shownStatus } from './source-status.ts'
import type { WatchState } from './state.ts'

type Receivers = WatchState['receivers']

function receivers(...states: readonly string[]): Receivers {
  const channels = states.map((state) => ({ condition: { state } }))
  return new Map([[1, { manufacturer: 'shure', channels }]]) as unknown as Receivers
}

it.each<[UpstreamStatus, Receivers, UpstreamStatus]>([
  ['degraded', receivers('receiver_offline', 'stale'), 'unhealthy'],
  ['degraded', receivers('receiver_offline', 'ok'), 'degraded'],
  ['degraded', receivers(), 'degraded'],
  ['healthy', receivers('receiver_offline'), 'healthy'],
])('a %s manufacturer is down only if none of its channels can be trusted', (status, known, expected) => {
  expect(shownStatus({ code: 'shure', status }, known)).toBe(expected)
})
