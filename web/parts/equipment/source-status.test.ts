import { describe, expect, it, test } from 'vitest'
import type { SourceBody } from '../../../src/contract/live-messages.ts'
import type { UpstreamStatus } from '../../../src/contract/values.ts'
import type { SourceHealth } from '../../../src/domain/equipment/health.ts'
import type { WatchState } from '../../app/watch-state.ts'
import {
  listDeviceErrors,
  listErrors,
  offlineReason,
  type ShownStatus,
  shownStatus,
  sourcesOf,
  statusText,
} from './source-status.ts'

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

const health = (address: string, error: string | null): SourceHealth => {
  return {
    source: address,
    status: error === null ? 'healthy' : 'unhealthy',
    consecutive_failures: 0,
    error,
    silent_since: null,
  }
}

test.each([
  ['the only source', [health('http://a', 'no response from a')], ['no response from a']],
  [
    'two failing sources of three, with their addresses',
    [health('http://a', 'no response from a'), health('http://b', null), health('http://c', 'c refuses')],
    ['http://a: no response from a', 'http://c: c refuses'],
  ],
  ['a manufacturer without a source', [], ['the configuration is invalid']],
])('lists the errors of %s', (_name, sources, sentences) => {
  const error = sources.length === 0 ? 'the configuration is invalid' : 'no response from a'
  expect(listErrors({ sources, error })).toEqual(sentences)
})

test('lists nothing when nothing fails', () => {
  expect(listErrors({ sources: [health('http://a', null)], error: null })).toEqual([])
  expect(listDeviceErrors({ device_errors: [], more: 0 })).toEqual([])
})

test('lists failing devices and counts the others', () => {
  const device_errors = [{ device: 'd3', error: 'ip cannot be read' }]
  expect(listDeviceErrors({ device_errors, more: 2 })).toEqual([
    'd3: ip cannot be read',
    '2 more devices cannot be read',
  ])
})

const receiver = { manufacturer: 'shure', ip: '10.0.0.5', site: null }
const source = (address: string, status = 'healthy', error: string | null = null): SourceBody => {
  return { code: 'shure', address, status, error, silent_since: null }
}
const system = source('https://10.0.0.1:10000')
const other = { ...system, code: 'sennheiser' }

describe('sourcesOf', () => {
  it('returns the sources that report the receiver, as far as they still exist', () => {
    const second = source('https://10.0.0.2:10000')
    const direct = source('tcp://10.0.0.5:2202')
    expect(sourcesOf(receiver, [system, second, direct], [second.address])).toEqual([second])
    expect(sourcesOf(receiver, [system, direct], [second.address])).toEqual([direct])
  })

  it('returns the source at the address of the receiver', () => {
    const direct = source('tcp://10.0.0.5:2202')
    expect(sourcesOf(receiver, [system, direct, other], [])).toEqual([direct])
  })

  it('returns the source through which a site is followed for a receiver of the site', () => {
    const followed = { ...source('https://north.example'), code: 'north' }
    const site = { code: 'north/theatre', name: 'Royal Theatre' }
    expect(sourcesOf({ ...receiver, site }, [system, followed], [])).toEqual([followed])
  })

  it('otherwise returns all sources of the manufacturer', () => {
    const second = source('tcp://10.0.0.50:2202')
    expect(sourcesOf(receiver, [system, second, other], [])).toEqual([system, second])
    expect(sourcesOf({ ...receiver, ip: null }, [system, other], [])).toEqual([system])
  })
})

describe('offlineReason', () => {
  it('names the error of the source if all sources fail', () => {
    const failing = source('tcp://10.0.0.5:2202', 'unhealthy', 'Connection refused.')
    expect(offlineReason([failing])).toBe('Its source tcp://10.0.0.5:2202 fails: Connection refused.')
  })

  it('otherwise blames the receiver', () => {
    const failing = source('https://10.0.0.2:10000', 'unhealthy', 'Connection refused.')
    expect(offlineReason([system, failing])).toMatch(/^Its source responds/)
    expect(offlineReason([])).toMatch(/^Its source responds/)
  })
})
