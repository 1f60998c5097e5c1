import { expect, it } from 'vitest'
import type { UpstreamStatus } from '../../src/contract/values.ts'
import type { WatchState } from '../app/watch-state.ts'
import { type ShownStatus, shownStatus, statusText } from './source-status.ts'

type Receivers = WatchState['receivers']

function receivers(...states: readonly string[]): Receivers {
  const channels = states.map((state) => ({ condition: { state } }))
  return new Map([[1, { manufacturer: 'shure', site: null, channels }]]) as unknown as Receivers
}

const atSite = new Map([
  [1, { manufacturer: 'shure', site: { code: 'theatre' }, channels: [] }],
]) as unknown as Receivers

it.each<[UpstreamStatus, Receivers, ShownStatus]>([
  ['degraded', receivers('receiver_offline', 'stale'), 'unhealthy'],
  ['degraded', receivers('receiver_offline', 'ok'), 'degraded'],
  ['degraded', receivers(), 'degraded'],
  ['healthy', receivers('receiver_offline'), 'healthy'],
  ['unconfigured', receivers('ok'), 'reported'],
  ['unconfigured', new Map(), 'unconfigured'],
  ['unconfigured', atSite, 'unconfigured'],
])('shows the status of a %s manufacturer by what is known of its own receivers', (status, known, expected) => {
  expect(shownStatus({ code: 'shure', status }, known)).toBe(expected)
})

it('names a manufacturer that only scripts report', () => {
  expect(statusText('reported')).toBe('Reported by scripts')
})
