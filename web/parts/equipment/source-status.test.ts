import { expect, it, test } from 'vitest'
import type { UpstreamStatus } from '../../../src/contract/values.ts'
import type { SourceHealth } from '../../../src/domain/equipment/health.ts'
import type { WatchState } from '../../app/watch-state.ts'
import { listDeviceErrors, listErrors, type ShownStatus, shownStatus, statusText } from './source-status.ts'

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

const source = (address: string, error: string | null): SourceHealth => {
  return {
    source: address,
    status: error === null ? 'healthy' : 'unhealthy',
    consecutive_failures: 0,
    error,
    silent_since: null,
  }
}

test.each([
  ['the only source', [source('http://a', 'no response from a')], ['no response from a']],
  [
    'two failing sources of three, with their addresses',
    [source('http://a', 'no response from a'), source('http://b', null), source('http://c', 'c refuses')],
    ['http://a: no response from a', 'http://c: c refuses'],
  ],
  ['a manufacturer without a source', [], ['the configuration is invalid']],
])('lists the errors of %s', (_name, sources, sentences) => {
  const error = sources.length === 0 ? 'the configuration is invalid' : 'no response from a'
  expect(listErrors({ sources, error })).toEqual(sentences)
})

test('lists nothing when nothing fails', () => {
  expect(listErrors({ sources: [source('http://a', null)], error: null })).toEqual([])
  expect(listDeviceErrors({ device_errors: [], more: 0 })).toEqual([])
})

test('lists failing devices and counts the others', () => {
  const device_errors = [{ device: 'd3', error: 'ip cannot be read' }]
  expect(listDeviceErrors({ device_errors, more: 2 })).toEqual([
    'd3: ip cannot be read',
    '2 more devices cannot be read',
  ])
})
